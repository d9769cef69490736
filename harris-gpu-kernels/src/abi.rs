//! The kernels, their arguments and the numbers by which choices are named, once for all sides.

/// Calls a macro with the list of all kernels:
///
/// ```text
/// module::name [threads of a block, cells of shared memory] (argument: [type of a buffer's words] | type, ...);
/// ```
///
/// `width` and `height` are the image's, whose pixels number less than 2³¹. A stack of planes is one buffer, plane
/// after plane; rows of blocks ([`Simt::block_row`](crate::Simt::block_row)) are its planes. Blocks of a kernel that is said
/// to be *by run* are neighbouring columns, each of which a thread goes down for `rows` rows: strip by strip, and part of the image by
/// part.
#[macro_export]
macro_rules! for_each_kernel {
    ($($apply:tt)*) => {
        $($apply)*! {
            // One block: ends when the first word has come to what is one more than the second, which then counts on.
            queue::arrive [1, 0] (words: [u32]);

            // By run: interleaved samples, rows `stride` samples apart, to a stack of planes, one a channel.
            load::load_u8 [256, 0] (image: [u8], planes: [i32], width: u32, height: u32, rows: u32, channels: u32, stride: u64);
            load::load_u16 [256, 0] (image: [u16], planes: [i32], width: u32, height: u32, rows: u32, channels: u32, stride: u64);
            load::load_f32 [256, 0] (image: [f32], planes: [f32], width: u32, height: u32, rows: u32, channels: u32, stride: u64);
            load::load_u8_as_f32 [256, 0] (image: [u8], planes: [f32], width: u32, height: u32, rows: u32, channels: u32, stride: u64);
            load::load_u16_as_f32 [256, 0] (image: [u16], planes: [f32], width: u32, height: u32, rows: u32, channels: u32, stride: u64);
            // By word: integers as floats.
            load::to_float [256, 0] (from: [i32], to: [f32], count: u64);

            // By run, on stacks: lines of taps along one axis.
            lines::binomial_f32 [256, 0] (from: [f32], to: [f32], width: u32, height: u32, rows: u32, axis: u32, size: u32, border: u32);
            lines::weighted_f32 [256, 0] (from: [f32], to: [f32], taps: [f32], width: u32, height: u32, rows: u32, axis: u32, size: u32, border: u32);
            // By run, on stacks: a box, or the difference of its sides, along one axis.
            lines::box_f32 [256, 0] (from: [f32], to: [f32], width: u32, height: u32, rows: u32, axis: u32, size: u32, shape: u32, border: u32);
            // The same on integers, at a cost that does not grow with the size. Across: blocks are pieces of `boxes::PIECE` pixels of rows.
            boxes::box_across_i32 [256, 1024] (from: [i32], to: [i32], width: u32, height: u32, size: u32, shape: u32, border: u32);
            boxes::box_down_i32 [256, 0] (from: [i32], to: [i32], width: u32, height: u32, rows: u32, size: u32, shape: u32, border: u32);

            // By run, on stacks: binomials of both axes, rounded to integers.
            smoothing::binomial3_i32 [256, 0] (from: [i32], to: [i32], width: u32, height: u32, rows: u32, border: u32);
            smoothing::binomial5_i32 [256, 0] (from: [i32], to: [i32], width: u32, height: u32, rows: u32, border: u32);
            smoothing::binomial3_f32 [256, 0] (from: [f32], to: [f32], width: u32, height: u32, rows: u32, border: u32);
            smoothing::binomial5_f32 [256, 0] (from: [f32], to: [f32], width: u32, height: u32, rows: u32, border: u32);
            gradient::gradient_i32 [256, 0] (from: [i32], gx: [i32], gy: [i32], width: u32, height: u32, rows: u32, kind: u32, border: u32);
            gradient::gradient_f32 [256, 0] (from: [f32], gx: [f32], gy: [f32], width: u32, height: u32, rows: u32, kind: u32, border: u32);

            // By run: stacks of gradients, one a channel, to a stack of three products.
            tensor::products_f32 [256, 0] (gx: [f32], gy: [f32], products: [f32], width: u32, height: u32, rows: u32, channels: u32);
            // To their sums down a box, at a cost that does not grow with its size,
            tensor::slide_i32 [256, 0] (gx: [i32], gy: [i32], sums: [i32], width: u32, height: u32, rows: u32, channels: u32, size: u32, border: u32);
            tensor::slide_i64 [256, 0] (gx: [i32], gy: [i32], sums: [i64], width: u32, height: u32, rows: u32, channels: u32, size: u32, border: u32);
            // and to weighted ones; `rounded` are products that are exact, and rounded before they are weighed.
            tensor::weigh_i32 [256, 0] (gx: [i32], gy: [i32], sums: [i32], taps: [f32], width: u32, height: u32, rows: u32, channels: u32, size: u32, border: u32);
            tensor::weigh_i64 [256, 0] (gx: [i32], gy: [i32], sums: [i64], taps: [f32], width: u32, height: u32, rows: u32, channels: u32, size: u32, border: u32);
            tensor::weigh_rounded [256, 0] (gx: [i32], gy: [i32], sums: [f32], taps: [f32], width: u32, height: u32, rows: u32, channels: u32, size: u32, border: u32);
            tensor::weigh_f32 [256, 0] (gx: [f32], gy: [f32], sums: [f32], taps: [f32], width: u32, height: u32, rows: u32, channels: u32, size: u32, border: u32);

            // A stack of three window sums to responses; 0 within `frame` pixels of the edges. By run.
            response::response_f32 [256, 0] (sums: [f32], response: [f32], width: u32, height: u32, rows: u32, scale: f32, measure: u32, parameter: f32, frame: u32);
            // A stack of their sums down the window, which are summed across it before: by piece of a row as `box_across_i32`, and by run.
            response::respond_box_i32 [256, 1024] (sums: [i32], response: [f32], width: u32, height: u32, size: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32);
            response::respond_box_i64 [256, 1024] (sums: [i64], response: [f32], width: u32, height: u32, size: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32);
            response::respond_weighted_i32 [256, 0] (sums: [i32], response: [f32], taps: [f32], width: u32, height: u32, rows: u32, size: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32);
            response::respond_weighted_i64 [256, 0] (sums: [i64], response: [f32], taps: [f32], width: u32, height: u32, rows: u32, size: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32);
            response::respond_weighted_f32 [256, 0] (sums: [f32], response: [f32], taps: [f32], width: u32, height: u32, rows: u32, size: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32);

            // By run: the least and greatest response of all competitors, into the state.
            threshold::extent [256, 16] (response: [f32], mask: [u8], state: [u32], width: u32, height: u32, rows: u32, frame: u32, mask_pitch: u32);
            // One block: the state's threshold.
            threshold::threshold [32, 0] (state: [u32], kind: u32, value: f32);
            // By run: Rosin's histogram, in several copies, which blocks share. One block: his threshold.
            threshold::histogram [256, 0] (response: [f32], mask: [u8], state: [u32], counts: [u32], bins: u32, copies: u32, width: u32, height: u32, rows: u32, frame: u32, mask_pitch: u32);
            threshold::rosin [256, 16] (state: [u32], counts: [u32], bins: u32, copies: u32);

            // By run: the keys of corners, in no order, into a list that the state counts, also beyond its capacity.
            suppression::suppress [256, 0] (response: [f32], mask: [u8], state: [u32], keys: [u64], capacity: u32, width: u32, height: u32, rows: u32, frame: u32, margin: u32, radius: u32, mask_pitch: u32);
            // Some warps a piece: candidates of a walk that are not the strongest so far around become keys of no response.
            suppression::thin [256, 0] (response: [f32], mask: [u8], state: [u32], keys: [u64], counts: [u32], pieces: u32, room: u32, width: u32, height: u32, frame: u32, radius: u32, threshold: u32, value: f32, mask_pitch: u32);

            // Lists, a row of blocks each, `pitch` keys apart; their states tell how many keys each has, of which the first `most`
            // count. Where `turned`, keys are sorted in the order of rows. `order::PARTS` threads a key: runs of `run` keys, a multiple
            // of those that a block has.
            order::rank [256, 1024] (from: [u64], to: [u64], state: [u32], pitch: u32, most: u32, run: u32, turned: u32);
            // Lists, by key: groups of `order::WAYS` sorted runs of `run` keys, a power of two, to single ones.
            order::merge [256, 0] (from: [u64], to: [u64], state: [u32], pitch: u32, most: u32, run: u32, turned: u32);
            // Corners by rank, of which the first `most` count, at least so far from each other as the root of `squared`, in `parts` shares, a multiple
            // of `order::COUNTED`.
            // By key: each into its cell of a grid of squares as long as that, which have room for `room` corners; none is decided on.
            order::file [256, 0] (keys: [u64], cells: [u64], filed: [u32], decisions: [u32], shares: [u32], state: [u32], most: u32, parts: u32, width: u32, side: u32, columns: u32, room: u32);
            // Blocks are shares: decides who is kept, and counts these.
            order::spread [256, 1] (keys: [u64], cells: [u64], filed: [u32], decisions: [u32], shares: [u32], state: [u32], most: u32, parts: u32, width: u32, side: u32, columns: u32, rows: u32, room: u32, squared: u64);
            // Warps are `order::COUNTED` shares: those kept, in their order, and their number, also into a report.
            order::keep [256, 0] (from: [u64], to: [u64], decisions: [u32], shares: [u32], state: [u32], report: [u32], most: u32, parts: u32);
            // Lists, by key: x, y, scale and response of corners.
            order::emit [256, 0] (keys: [u64], response: [f32], keypoints: [f32], state: [u32], pitch: u32, most: u32, width: u32, height: u32, frame: u32, subpixel: u32);
            // By corner at a pixel's centre: to where the edges around it meet; interleaved samples, rows `stride` samples apart.
            refine::refine_u8 [128, 0] (image: [u8], keypoints: [f32], state: [u32], most: u32, width: u32, height: u32, channels: u32, stride: u64, radius: u32);
            refine::refine_u16 [128, 0] (image: [u16], keypoints: [f32], state: [u32], most: u32, width: u32, height: u32, channels: u32, stride: u64, radius: u32);
            refine::refine_f32 [128, 0] (image: [f32], keypoints: [f32], state: [u32], most: u32, width: u32, height: u32, channels: u32, stride: u64, radius: u32);
            // Warps are pieces, rows of blocks images: those candidates that exceed the threshold, in no order, into a list that the
            // state counts, also beyond its `pitch`. Each image has `pieces`, which have room for `room` candidates each.
            order::exceed [256, 16] (from: [u64], counts: [u32], to: [u64], state: [u32], pieces: u32, room: u32, pitch: u32, kind: u32, value: f32);

            // The same by `bins::SHARE` warps a piece into `bins` bins, a power of two, of `bins::ROOM` keys each, which sort them roughly,
            // where `turned` in the order of rows. Word `tables` of the state begins what counts them: `bins::counters` of each image.
            bins::scatter [256, 0] (from: [u64], counts: [u32], to: [u64], state: [u32], pieces: u32, room: u32, tables: u32, bins: u32, kind: u32, value: f32, turned: u32, pixels: u32);
            // Warps are `bins::EACH` bins, rows of blocks images: x, y, scale and response of their corners, or `as_keys`, each in its place of the
            // sorted list, of which the first `most` count, and the list's length, or more than any where a bin had no room; and a
            // report, the states as they then are; what is left of them is that length, and zeros, as walks need them.
            bins::gather [256, 4112] (from: [u64], listed: [u64], keypoints: [f32], state: [u32], report: [u32], tables: u32, bins: u32, turned: u32, pitch: u32, most: u32, width: u32, as_keys: u32);

            // Warps are rows: interleaved samples to sums of gray levels before each column, in rows of `pitch` words from the
            // second on.
            integral::integral_rows_u8 [256, 0] (image: [u8], sums: [u32], width: u32, height: u32, channels: u32, stride: u64, pitch: u32);
            integral::integral_rows_u16 [256, 0] (image: [u16], sums: [u32], width: u32, height: u32, channels: u32, stride: u64, pitch: u32);
            integral::integral_rows_f32 [256, 0] (image: [f32], sums: [u32], width: u32, height: u32, channels: u32, stride: u64, pitch: u32);
            // By column, rows of blocks are bands of `rows` rows: the sums of each band, then those of all rows above.
            integral::integral_bands [256, 0] (sums: [u32], bands: [u32], width: u32, height: u32, pitch: u32, rows: u32);
            integral::integral_columns [256, 0] (sums: [u32], bands: [u32], width: u32, height: u32, pitch: u32, rows: u32);

            // By sample of all `count` layers: determinants.
            hessian::determinants [256, 0] (sums: [u32], layers: [u32], responses: [f32], width: u32, height: u32, pitch: u32, count: u32, samples: u32);
            // By sample of all `count` triples: the keys of peaks, in no order, into a list that the state counts, also beyond its
            // capacity.
            hessian::scale_peaks [256, 0] (layers: [u32], triples: [u32], responses: [f32], mask: [u8], state: [u32], keys: [u64], capacity: u32, mask_pitch: u32, threshold: f32, count: u32, samples: u32);
            // By key: x, y, scale and response.
            hessian::emit_blobs [256, 0] (sums: [u32], layers: [u32], triples: [u32], responses: [f32], keys: [u64], keypoints: [f32], width: u32, height: u32, pitch: u32, count: u32, found: u32);
            // By keypoint: those of equal strength in their order.
            hessian::settle [256, 0] (from: [f32], to: [f32], count: u32);

            // Blocks are keypoints: x, y and scale of each to its descriptor.
            surf::surf [128, 688] (sums: [u32], frames: [f32], tables: [f32], descriptors: [f32], width: u32, height: u32, pitch: u32, upright: u32);

            // Columns of blocks are tiles of `matching::TILE` queries, rows of blocks every `stride`th tile of the trained
            // descriptors: the nearest of each query among those, three words each.
            nearest::nearest [256, 4160] (query: [f32], train: [f32], parts: [u32], queries: u32, trained: u32, stride: u32);
            // By query: the nearest of all parts.
            nearest::nearest_of_parts [256, 0] (parts: [u32], found: [u32], queries: u32, count: u32);

            // Blocks are pieces of strips of `fused::own` columns, from row `first` to row `last`: `whole` of `rows` rows in each, then
            // others of `later`. Samples, rows `pitch` samples apart, to the keys of corners that exceed what is known of the threshold,
            // and their number. Rows of
            // blocks are images, `stride` samples apart, of `pieces` each, of which the first here is number `piece`; each has room
            // for `room` keys. `counters` words of each image from word `tables` of the state on become zeros.
            // The masks' rows are `mask_pitch` bytes apart, a multiple of 4, also where others take a mask; 0 is none.
            fused::sobel_box3_harris_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::sobel_box3_harris_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::sobel_box5_harris_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::sobel_box5_harris_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_box3_harris_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_box3_harris_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_box5_harris_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_box5_harris_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial5_sobel_box3_harris_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial5_sobel_box3_harris_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial5_sobel_box5_harris_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial5_sobel_box5_harris_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::sobel_box7_harris_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::sobel_box7_harris_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_box7_harris_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_box7_harris_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::sobel_box3_shi_tomasi_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::sobel_box3_shi_tomasi_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_box3_shi_tomasi_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_box3_shi_tomasi_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::sobel_box3_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::sobel_box3_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_box3_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_box3_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::sobel_box5_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::sobel_box5_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_box5_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_box5_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::sobel_box7_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::sobel_box7_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_box7_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_box7_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_scharr_box3_harris_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial5_sobel_box3_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial5_sobel_box3_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_scharr_box3_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::u16_sobel_box3_radius1 [32, 0] (image: [u16], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::u16_sobel_box3_radius2 [32, 0] (image: [u16], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::u16_binomial3_sobel_box3_radius1 [32, 0] (image: [u16], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::u16_binomial3_sobel_box3_radius2 [32, 0] (image: [u16], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::f32_sobel_box3_radius1 [32, 0] (image: [f32], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::f32_sobel_box3_radius2 [32, 0] (image: [f32], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::f32_binomial3_sobel_box3_radius1 [32, 0] (image: [f32], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::f32_binomial3_sobel_box3_radius2 [32, 0] (image: [f32], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::rgb_sobel_box3_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::rgb_sobel_box3_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::rgb_binomial3_sobel_box3_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::rgb_binomial3_sobel_box3_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::sobel_binomial3_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::sobel_binomial3_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::sobel_binomial5_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::sobel_binomial5_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::sobel_gaussian3_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::sobel_gaussian3_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::sobel_gaussian5_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::sobel_gaussian5_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::sobel_gaussian7_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::sobel_gaussian7_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_binomial3_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_binomial3_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_binomial5_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_binomial5_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_gaussian3_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_gaussian3_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_gaussian5_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_gaussian5_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_gaussian7_radius1 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::binomial3_sobel_gaussian7_radius2 [32, 0] (image: [u8], state: [u32], keys: [u64], counts: [u32], stride: u64, width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, margin: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);

            // The fused walk, which leaves responses.
            fused::map_sobel_box3_harris [32, 0] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_binomial3_sobel_box3_harris [32, 0] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_sobel_box3 [32, 0] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_sobel_box5 [32, 0] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_sobel_box7 [32, 0] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_binomial3_sobel_box3 [32, 0] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_binomial3_sobel_box5 [32, 0] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_binomial3_sobel_box7 [32, 0] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_binomial5_sobel_box3 [32, 0] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_binomial3_scharr_box3 [32, 0] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_u16_sobel_box3 [32, 0] (image: [u16], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_u16_binomial3_sobel_box3 [32, 0] (image: [u16], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_f32_sobel_box3 [32, 0] (image: [f32], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_f32_binomial3_sobel_box3 [32, 0] (image: [f32], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_rgb_sobel_box3 [32, 0] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_rgb_binomial3_sobel_box3 [32, 0] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_sobel_binomial3 [32, 0] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_sobel_binomial5 [32, 0] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_sobel_gaussian3 [32, 0] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_sobel_gaussian5 [32, 0] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_sobel_gaussian7 [32, 0] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_binomial3_sobel_binomial3 [32, 0] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_binomial3_sobel_binomial5 [32, 0] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_binomial3_sobel_gaussian3 [32, 0] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_binomial3_sobel_gaussian5 [32, 0] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            fused::map_binomial3_sobel_gaussian7 [32, 0] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
        }
    };
}

/// Calls a macro with the fused kernels:
///
/// ```text
/// name [blocks that a multiprocessor is to hold]: samples, radius of the binomial smoothing, gradient, weights and radius of the window, measure, radius of suppression;
/// ```
#[macro_export]
macro_rules! for_each_fused {
    ($($apply:tt)*) => {
        $($apply)*! {
            sobel_box3_harris_radius1 [16]: Bytes, 0, SOBEL, Box, 1, HARRIS, 1;
            sobel_box3_harris_radius2 [16]: Bytes, 0, SOBEL, Box, 1, HARRIS, 2;
            sobel_box5_harris_radius1 [12]: Bytes, 0, SOBEL, Box, 2, HARRIS, 1;
            sobel_box5_harris_radius2 [12]: Bytes, 0, SOBEL, Box, 2, HARRIS, 2;
            binomial3_sobel_box3_harris_radius1 [16]: Bytes, 1, SOBEL, Box, 1, HARRIS, 1;
            binomial3_sobel_box3_harris_radius2 [16]: Bytes, 1, SOBEL, Box, 1, HARRIS, 2;
            binomial3_sobel_box5_harris_radius1 [12]: Bytes, 1, SOBEL, Box, 2, HARRIS, 1;
            binomial3_sobel_box5_harris_radius2 [12]: Bytes, 1, SOBEL, Box, 2, HARRIS, 2;
            binomial5_sobel_box3_harris_radius1 [16]: Bytes, 2, SOBEL, Box, 1, HARRIS, 1;
            binomial5_sobel_box3_harris_radius2 [12]: Bytes, 2, SOBEL, Box, 1, HARRIS, 2;
            binomial5_sobel_box5_harris_radius1 [12]: Bytes, 2, SOBEL, Box, 2, HARRIS, 1;
            binomial5_sobel_box5_harris_radius2 [8]: Bytes, 2, SOBEL, Box, 2, HARRIS, 2;
            sobel_box7_harris_radius1 [8]: Bytes, 0, SOBEL, Box, 3, HARRIS, 1;
            sobel_box7_harris_radius2 [8]: Bytes, 0, SOBEL, Box, 3, HARRIS, 2;
            binomial3_sobel_box7_harris_radius1 [8]: Bytes, 1, SOBEL, Box, 3, HARRIS, 1;
            binomial3_sobel_box7_harris_radius2 [8]: Bytes, 1, SOBEL, Box, 3, HARRIS, 2;
            sobel_box3_shi_tomasi_radius1 [16]: Bytes, 0, SOBEL, Box, 1, SHI_TOMASI, 1;
            sobel_box3_shi_tomasi_radius2 [16]: Bytes, 0, SOBEL, Box, 1, SHI_TOMASI, 2;
            binomial3_sobel_box3_shi_tomasi_radius1 [16]: Bytes, 1, SOBEL, Box, 1, SHI_TOMASI, 1;
            binomial3_sobel_box3_shi_tomasi_radius2 [16]: Bytes, 1, SOBEL, Box, 1, SHI_TOMASI, 2;
            sobel_box3_radius1 [12]: Bytes, 0, SOBEL, Box, 1, ANY, 1;
            sobel_box3_radius2 [12]: Bytes, 0, SOBEL, Box, 1, ANY, 2;
            binomial3_sobel_box3_radius1 [12]: Bytes, 1, SOBEL, Box, 1, ANY, 1;
            binomial3_sobel_box3_radius2 [12]: Bytes, 1, SOBEL, Box, 1, ANY, 2;
            sobel_box5_radius1 [12]: Bytes, 0, SOBEL, Box, 2, ANY, 1;
            sobel_box5_radius2 [12]: Bytes, 0, SOBEL, Box, 2, ANY, 2;
            binomial3_sobel_box5_radius1 [12]: Bytes, 1, SOBEL, Box, 2, ANY, 1;
            binomial3_sobel_box5_radius2 [12]: Bytes, 1, SOBEL, Box, 2, ANY, 2;
            sobel_box7_radius1 [8]: Bytes, 0, SOBEL, Box, 3, ANY, 1;
            sobel_box7_radius2 [8]: Bytes, 0, SOBEL, Box, 3, ANY, 2;
            binomial3_sobel_box7_radius1 [8]: Bytes, 1, SOBEL, Box, 3, ANY, 1;
            binomial3_sobel_box7_radius2 [8]: Bytes, 1, SOBEL, Box, 3, ANY, 2;
            binomial3_scharr_box3_harris_radius2 [16]: Bytes, 1, SCHARR, Box, 1, HARRIS, 2;
            binomial5_sobel_box3_radius1 [12]: Bytes, 2, SOBEL, Box, 1, ANY, 1;
            binomial5_sobel_box3_radius2 [8]: Bytes, 2, SOBEL, Box, 1, ANY, 2;
            binomial3_scharr_box3_radius2 [12]: Bytes, 1, SCHARR, Box, 1, ANY, 2;
            u16_sobel_box3_radius1 [8]: Words, 0, SOBEL, Box, 1, ANY, 1;
            u16_sobel_box3_radius2 [8]: Words, 0, SOBEL, Box, 1, ANY, 2;
            u16_binomial3_sobel_box3_radius1 [8]: Words, 1, SOBEL, Box, 1, ANY, 1;
            u16_binomial3_sobel_box3_radius2 [8]: Words, 1, SOBEL, Box, 1, ANY, 2;
            f32_sobel_box3_radius1 [8]: Floats, 0, SOBEL, Box, 1, ANY, 1;
            f32_sobel_box3_radius2 [8]: Floats, 0, SOBEL, Box, 1, ANY, 2;
            f32_binomial3_sobel_box3_radius1 [8]: Floats, 1, SOBEL, Box, 1, ANY, 1;
            f32_binomial3_sobel_box3_radius2 [8]: Floats, 1, SOBEL, Box, 1, ANY, 2;
            rgb_sobel_box3_radius1 [8]: Colours, 0, SOBEL, Box, 1, ANY, 1;
            rgb_sobel_box3_radius2 [8]: Colours, 0, SOBEL, Box, 1, ANY, 2;
            rgb_binomial3_sobel_box3_radius1 [8]: Colours, 1, SOBEL, Box, 1, ANY, 1;
            rgb_binomial3_sobel_box3_radius2 [8]: Colours, 1, SOBEL, Box, 1, ANY, 2;
            sobel_binomial3_radius1 [12]: Bytes, 0, SOBEL, Binomial, 1, ANY, 1;
            sobel_binomial3_radius2 [12]: Bytes, 0, SOBEL, Binomial, 1, ANY, 2;
            sobel_binomial5_radius1 [12]: Bytes, 0, SOBEL, Binomial, 2, ANY, 1;
            sobel_binomial5_radius2 [12]: Bytes, 0, SOBEL, Binomial, 2, ANY, 2;
            sobel_gaussian3_radius1 [12]: Bytes, 0, SOBEL, Gaussian, 1, ANY, 1;
            sobel_gaussian3_radius2 [12]: Bytes, 0, SOBEL, Gaussian, 1, ANY, 2;
            sobel_gaussian5_radius1 [8]: Bytes, 0, SOBEL, Gaussian, 2, ANY, 1;
            sobel_gaussian5_radius2 [8]: Bytes, 0, SOBEL, Gaussian, 2, ANY, 2;
            sobel_gaussian7_radius1 [8]: Bytes, 0, SOBEL, Gaussian, 3, ANY, 1;
            sobel_gaussian7_radius2 [8]: Bytes, 0, SOBEL, Gaussian, 3, ANY, 2;
            binomial3_sobel_binomial3_radius1 [12]: Bytes, 1, SOBEL, Binomial, 1, ANY, 1;
            binomial3_sobel_binomial3_radius2 [12]: Bytes, 1, SOBEL, Binomial, 1, ANY, 2;
            binomial3_sobel_binomial5_radius1 [12]: Bytes, 1, SOBEL, Binomial, 2, ANY, 1;
            binomial3_sobel_binomial5_radius2 [12]: Bytes, 1, SOBEL, Binomial, 2, ANY, 2;
            binomial3_sobel_gaussian3_radius1 [12]: Bytes, 1, SOBEL, Gaussian, 1, ANY, 1;
            binomial3_sobel_gaussian3_radius2 [12]: Bytes, 1, SOBEL, Gaussian, 1, ANY, 2;
            binomial3_sobel_gaussian5_radius1 [8]: Bytes, 1, SOBEL, Gaussian, 2, ANY, 1;
            binomial3_sobel_gaussian5_radius2 [8]: Bytes, 1, SOBEL, Gaussian, 2, ANY, 2;
            binomial3_sobel_gaussian7_radius1 [8]: Bytes, 1, SOBEL, Gaussian, 3, ANY, 1;
            binomial3_sobel_gaussian7_radius2 [8]: Bytes, 1, SOBEL, Gaussian, 3, ANY, 2;
        }
    };
}

/// Calls a macro with the fused kernels that leave responses:
///
/// ```text
/// name [blocks that a multiprocessor is to hold]: samples, radius of the binomial smoothing, gradient, weights and radius of the window, measure;
/// ```
#[macro_export]
macro_rules! for_each_map {
    ($($apply:tt)*) => {
        $($apply)*! {
            map_sobel_box3_harris [16]: Bytes, 0, SOBEL, Box, 1, HARRIS;
            map_binomial3_sobel_box3_harris [16]: Bytes, 1, SOBEL, Box, 1, HARRIS;
            map_sobel_box3 [16]: Bytes, 0, SOBEL, Box, 1, ANY;
            map_sobel_box5 [12]: Bytes, 0, SOBEL, Box, 2, ANY;
            map_sobel_box7 [8]: Bytes, 0, SOBEL, Box, 3, ANY;
            map_binomial3_sobel_box3 [16]: Bytes, 1, SOBEL, Box, 1, ANY;
            map_binomial3_sobel_box5 [12]: Bytes, 1, SOBEL, Box, 2, ANY;
            map_binomial3_sobel_box7 [8]: Bytes, 1, SOBEL, Box, 3, ANY;
            map_binomial5_sobel_box3 [12]: Bytes, 2, SOBEL, Box, 1, ANY;
            map_binomial3_scharr_box3 [16]: Bytes, 1, SCHARR, Box, 1, ANY;
            map_u16_sobel_box3 [8]: Words, 0, SOBEL, Box, 1, ANY;
            map_u16_binomial3_sobel_box3 [8]: Words, 1, SOBEL, Box, 1, ANY;
            map_f32_sobel_box3 [8]: Floats, 0, SOBEL, Box, 1, ANY;
            map_f32_binomial3_sobel_box3 [8]: Floats, 1, SOBEL, Box, 1, ANY;
            map_rgb_sobel_box3 [8]: Colours, 0, SOBEL, Box, 1, ANY;
            map_rgb_binomial3_sobel_box3 [8]: Colours, 1, SOBEL, Box, 1, ANY;
            map_sobel_binomial3 [12]: Bytes, 0, SOBEL, Binomial, 1, ANY;
            map_sobel_binomial5 [12]: Bytes, 0, SOBEL, Binomial, 2, ANY;
            map_sobel_gaussian3 [12]: Bytes, 0, SOBEL, Gaussian, 1, ANY;
            map_sobel_gaussian5 [12]: Bytes, 0, SOBEL, Gaussian, 2, ANY;
            map_sobel_gaussian7 [8]: Bytes, 0, SOBEL, Gaussian, 3, ANY;
            map_binomial3_sobel_binomial3 [12]: Bytes, 1, SOBEL, Binomial, 1, ANY;
            map_binomial3_sobel_binomial5 [12]: Bytes, 1, SOBEL, Binomial, 2, ANY;
            map_binomial3_sobel_gaussian3 [12]: Bytes, 1, SOBEL, Gaussian, 1, ANY;
            map_binomial3_sobel_gaussian5 [12]: Bytes, 1, SOBEL, Gaussian, 2, ANY;
            map_binomial3_sobel_gaussian7 [8]: Bytes, 1, SOBEL, Gaussian, 3, ANY;
        }
    };
}

macro_rules! kernel_enum {
    ($($module:ident :: $name:ident [$threads:literal, $cells:literal] ($($argument:ident : $type:tt),*);)*) => {
        /// A kernel, by its name in the PTX.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(non_camel_case_types, missing_docs)]
        pub enum Kernel {
            $($name,)*
        }

        impl Kernel {
            /// All of them.
            pub const ALL: &'static [Kernel] = &[$(Kernel::$name,)*];

            /// The name of the entry point.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Kernel::$name => stringify!($name),)*
                }
            }

            /// Threads of a block.
            #[must_use]
            pub fn threads(self) -> u32 {
                match self {
                    $(Kernel::$name => $threads,)*
                }
            }

            /// Cells, of 64 bits, of a block's shared memory.
            #[must_use]
            pub fn cells(self) -> u32 {
                match self {
                    $(Kernel::$name => $cells,)*
                }
            }
        }

        #[cfg(feature = "host")]
        impl Kernel {
            /// Its body on the host.
            pub(crate) fn on_host(self) -> for<'a> fn(crate::simt::host::Thread<'a>, &'a [crate::simt::host::Argument]) {
                match self {
                    $(Kernel::$name => |thread, arguments| {
                        let [$($argument),*] = arguments else { panic!("another number of arguments") };
                        crate::kernels::$module::$name(thread, $(on_host!($argument, $type)),*);
                    },)*
                }
            }
        }
    };
}

#[cfg(feature = "host")]
macro_rules! on_host {
    ($argument:ident, [$word:ident]) => {
        $crate::simt::host::buffer::<$word>($argument)
    };
    ($argument:ident, $word:ident) => {
        $crate::simt::host::number::<$word>($argument)
    };
}

for_each_kernel!(kernel_enum);

impl Kernel {
    /// Whether it waits for the kernel before by itself, and so may be started before that one has ended.
    #[must_use]
    pub fn awaits_last(self) -> bool {
        self.of_corners().is_some() || matches!(self, Kernel::arrive | Kernel::scatter | Kernel::gather)
    }

    /// How many blocks a multiprocessor is to hold, where registers must be shared out for it.
    #[must_use]
    pub fn blocks_held(self) -> Option<u32> {
        match self {
            // Else some assemblers spill, so that there may be more.
            Kernel::respond_box_i32 | Kernel::respond_box_i64 | Kernel::suppress => Some(4),
            _ => self.of_corners().or(self.of_map()).map(|[blocks, _]| blocks),
        }
    }

    /// Columns and rows from a corner, or a response, to the farthest sample on which it depends, of a fused kernel.
    #[must_use]
    pub fn reach(self) -> Option<u32> {
        self.of_corners().or(self.of_map()).map(|[_, reach]| reach)
    }

    /// Columns to each side of a warp's that only lead to others, of a fused kernel.
    #[must_use]
    pub fn side(self) -> Option<u32> {
        let of_corners = self.of_corners().map(|[_, reach]| reach);
        of_corners.or(self.of_map().map(|[_, reach]| fused::side_of_map(reach)))
    }
}

macro_rules! fused_kernels {
    ($($name:ident [$blocks:literal]: $samples:ident, $smoothing:literal, $gradient:ident, $weights:ident, $window:literal, $measure:ident, $radius:literal;)*) => {
        impl Kernel {
            /// [`Kernel::blocks_held`] and [`Kernel::reach`] of those that find corners.
            fn of_corners(self) -> Option<[u32; 2]> {
                match self {
                    $(Kernel::$name => Some([$blocks, $smoothing + 1 + $window + $radius]),)*
                    _ => None,
                }
            }

            /// The fused kernel for samples, radii of smoothing, window and suppression, a gradient of [`gradient`] and a measure of
            /// [`measure`]; one for any measure where there is none for this.
            #[must_use]
            pub fn fused(samples: fused::Samples, smoothing: usize, gradient: u32, window: (fused::Weights, usize), measure: u32, radius: usize) -> Option<Kernel> {
                let of = |measure| match (samples, smoothing, gradient, window, measure, radius) {
                    $((fused::Samples::$samples, $smoothing, gradient::$gradient, (fused::Weights::$weights, $window), measure::$measure, $radius) => Some(Kernel::$name),)*
                    _ => None,
                };
                of(measure).or_else(|| of(measure::ANY))
            }
        }
    };
}

for_each_fused!(fused_kernels);

macro_rules! map_kernels {
    ($($name:ident [$blocks:literal]: $samples:ident, $smoothing:literal, $gradient:ident, $weights:ident, $window:literal, $measure:ident;)*) => {
        impl Kernel {
            /// [`Kernel::blocks_held`] and [`Kernel::reach`] of those that leave responses.
            fn of_map(self) -> Option<[u32; 2]> {
                match self {
                    $(Kernel::$name => Some([$blocks, $smoothing + 1 + $window]),)*
                    _ => None,
                }
            }

            /// The one that leaves responses, as [`Kernel::fused`].
            #[must_use]
            pub fn map(samples: fused::Samples, smoothing: usize, gradient: u32, window: (fused::Weights, usize), measure: u32) -> Option<Kernel> {
                let of = |measure| match (samples, smoothing, gradient, window, measure) {
                    $((fused::Samples::$samples, $smoothing, gradient::$gradient, (fused::Weights::$weights, $window), measure::$measure) => Some(Kernel::$name),)*
                    _ => None,
                };
                of(measure).or_else(|| of(measure::ANY))
            }
        }
    };
}

for_each_map!(map_kernels);

/// Border rules.
pub mod border {
    /// dcb|abcd|cba
    pub const REFLECT: u32 = 0;
    /// aaa|abcd|ddd
    pub const REPLICATE: u32 = 1;
    /// 000|abcd|000
    pub const ZERO: u32 = 2;
}

/// Axes of lines.
pub mod axis {
    /// Along a row.
    pub const ACROSS: u32 = 0;
    /// Along a column.
    pub const DOWN: u32 = 1;
}

/// Box sums.
pub mod boxes {
    /// The sum of the whole box.
    pub const SUM: u32 = 0;
    /// The side after the centre minus the side before it.
    pub const SIDES: u32 = 1;
    /// Pixels of a row that a block sums.
    pub const PIECE: u32 = 768;
    /// The greatest size.
    pub const MOST: u32 = 127;
}

/// Gradients of fixed taps.
pub mod gradient {
    /// Sobel's.
    pub const SOBEL: u32 = 0;
    /// Scharr's.
    pub const SCHARR: u32 = 1;
    /// Central differences.
    pub const CENTRAL: u32 = 2;
}

/// Fused kernels.
pub mod fused {
    /// Columns that a warp sees.
    pub const COLUMNS: u32 = 128;
    /// Columns that a lane has.
    pub const EACH: u32 = 4;
    /// Rows that are fetched at once, and then walked.
    pub const ROWS: usize = 3;
    /// The most columns and rows from a corner to a sample on which it depends, the radii of all stages together.
    pub const MOST_REACH: u32 = 8;

    /// Columns of which a warp finds the corners, where these depend on samples so many columns away.
    #[must_use]
    pub const fn own(reach: u32) -> u32 {
        COLUMNS - 2 * reach
    }

    /// Columns to each side of a warp's that only lead to others where it leaves responses which depend on samples so many columns away:
    /// all of a lane's own are left at once.
    #[must_use]
    pub const fn side_of_map(reach: u32) -> u32 {
        reach.next_multiple_of(EACH)
    }

    /// The greatest radius of suppression; around corners of which a greater one is asked for responses are looked at again.
    pub const MOST_RADIUS: usize = 2;
    /// Warps that do so in a piece.
    pub const THINNING: u32 = 4;

    /// The greatest magnitude that float samples may have.
    pub const MOST_SAMPLE: f32 = 1e8;

    /// The weights of a window.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Weights {
        /// All alike.
        Box,
        /// A row of Pascal's triangle.
        Binomial,
        /// Those that arguments tell, from the centre on.
        Gaussian,
    }

    /// What samples are.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Samples {
        /// Of 8 bits and one channel; rows are a multiple of 4 apart.
        Bytes,
        /// Of 16 bits and one channel.
        Words,
        /// Floats of one channel.
        Floats,
        /// Of 8 bits and three channels.
        Colours,
    }
}

/// Measures of the structure tensor.
pub mod measure {
    /// Harris's; the parameter is k.
    pub const HARRIS: u32 = 0;
    /// Shi's and Tomasi's.
    pub const SHI_TOMASI: u32 = 1;
    /// Noble's; the parameter is epsilon.
    pub const NOBLE: u32 = 2;
    /// Of a fused kernel: whichever an argument tells. These kernels alone look at masks.
    pub const ANY: u32 = 3;
}

/// Thresholds that need no histogram.
pub mod threshold {
    /// The value itself.
    pub const ABSOLUTE: u32 = 0;
    /// The value times the greatest response.
    pub const RELATIVE: u32 = 1;
}

/// Words of the state, which kernels leave for each other: zeros to start with. Stacks of images have one each.
pub mod state {
    /// The least response, as bits that compare like numbers, all turned.
    pub const LEAST: usize = 0;
    /// The greatest response, as bits that compare like numbers.
    pub const GREATEST: usize = 1;
    /// The threshold, as the bits of an f32.
    pub const THRESHOLD: usize = 2;
    /// Corners of the list; where it is not complete, more than there is room for.
    pub const KEPT: usize = 3;
    /// Corners of the list before those that are too near to others were taken out of it.
    pub const ALL: usize = 4;
    /// Whether a bin had no room for all its keys.
    pub const CROWDED: usize = 5;
    /// Whether a sample is no number that images may have.
    pub const INVALID: usize = 6;
    /// Its length.
    pub const WORDS: usize = 8;
}

/// Lists of corners.
///
/// A corner's key has its response's bits, all turned, in the upper half, and its pixel's number in the lower: keys
/// ascend as results do, from the strongest on; with their halves exchanged, in the order of rows.
pub mod order {
    /// Keys that a block compares with at a time.
    pub const CHUNK: u32 = 1024;
    /// Runs that are merged at a time.
    pub const WAYS: u32 = 16;
    /// Threads that count together how many keys come before one.
    pub const PARTS: u32 = 8;
    /// Shares of a list that are counted together.
    pub const COUNTED: u32 = 8;
    /// Not yet decided.
    pub const OPEN: u32 = 0;
    /// Kept.
    pub const KEPT: u32 = 1;
    /// Too near to one that is kept.
    pub const REJECTED: u32 = 2;
}

/// GPUs that can start a kernel before the one ahead of it has ended.
pub mod chained {
    /// The least compute capability of such.
    pub const LEAST: (u32, u32) = (9, 0);

    /// PTX as they are to have it: what it says that it is for is theirs, and their instructions are remarks no more.
    #[cfg(not(target_arch = "nvptx64"))]
    #[must_use]
    pub fn ptx(ptx: &str) -> alloc::string::String {
        ptx.replacen("\n.target sm_75", "\n.target sm_90", 1).replace("// from sm_90 on: ", "")
    }
}

/// Bins of keys.
pub mod bins {
    /// How many there are at most.
    pub const MOST: u32 = 32768;
    /// Keys that one has room for.
    pub const ROOM: u32 = 256;
    /// Warps that scatter the candidates of a piece.
    pub const SHARE: u32 = 1;
    /// Bins whose keys a warp brings together.
    pub const EACH: u32 = 2;
    /// Bins that are counted together.
    pub const GROUP: u32 = 256;
    /// How often a group is counted, by some warps each, apart from each other: what counts in one place is done one after the other.
    pub const COPIES: u32 = 8;

    /// Words that count all groups once.
    #[must_use]
    pub const fn groups(bins: u32) -> u32 {
        // Whole lines of a cache.
        bins.div_ceil(GROUP).next_multiple_of(32)
    }

    /// Words that count an image's bins: all of each group, so many times, then each bin.
    #[must_use]
    pub const fn counters(bins: u32) -> u32 {
        COPIES * groups(bins) + bins
    }
}

/// Tables of the Fast-Hessian detector's layers and of the triples of them that are compared.
///
/// A blob's key has its determinant's bits, all turned, in the upper half, and its sample's number in the lower.
pub mod pyramid {
    /// A layer's words.
    pub mod layer {
        /// Width of the filter.
        pub const FILTER: usize = 0;
        /// Pixels between samples.
        pub const STEP: usize = 1;
        /// Samples in a row.
        pub const WIDTH: usize = 2;
        /// Number of its first sample among those of all layers.
        pub const FIRST: usize = 3;
        /// What brings sums to the units of an image in 0..1, as the bits of an f32.
        pub const UNIT: usize = 4;
        /// How many there are.
        pub const WORDS: usize = 5;
    }

    /// A triple's words.
    pub mod triple {
        /// Number of the bottom layer; those of the middle and the top follow.
        pub const BOTTOM: usize = 0;
        /// Samples along each edge that are not compared, less one.
        pub const BORDER: usize = 3;
        /// Samples in a row that are compared.
        pub const COLUMNS: usize = 4;
        /// Number of its first sample among those of all triples.
        pub const FIRST: usize = 5;
        /// How many there are.
        pub const WORDS: usize = 6;
    }
}

/// The SURF descriptor's window, tables and cells.
pub mod surf {
    /// Values.
    pub const LENGTH: u32 = 64;
    /// Samples in the circle that the direction is taken from.
    pub const CIRCLE: u32 = 109;
    /// Sectors that are tried.
    pub const DIRECTIONS: u32 = 42;
    /// Samples along a side of the window.
    pub const GRID: u32 = 24;
    /// Samples along a side of a subregion.
    pub const REGION: u32 = 9;
    /// Samples from one subregion to the next.
    pub const SPACING: u32 = 5;
    /// Subregions along a side of the window.
    pub const REGIONS: u32 = 4;

    /// Where the table has the circle's samples: column, row and weight each.
    pub const CIRCLE_TABLE: u32 = 0;
    /// The sectors: where each begins and ends, x and y.
    pub const SECTOR_TABLE: u32 = CIRCLE_TABLE + 3 * CIRCLE;
    /// The weights of a subregion's samples.
    pub const REGION_TABLE: u32 = SECTOR_TABLE + 4 * DIRECTIONS;
    /// The weights of the subregions.
    pub const REGIONS_TABLE: u32 = REGION_TABLE + REGION * REGION;
    /// Floats of the table.
    pub const TABLE: u32 = REGIONS_TABLE + REGIONS * REGIONS;

    /// Shared cells of the sectors; the window's samples, and before them the circle's, come first.
    pub const SECTOR_CELLS: u32 = GRID * GRID;
    /// Those of the values.
    pub const VALUE_CELLS: u32 = SECTOR_CELLS + DIRECTIONS;

    const _: () = assert!(VALUE_CELLS + LENGTH <= 688);
}

/// Tiles of descriptors that are matched.
pub mod matching {
    /// Descriptors of a tile.
    pub const TILE: u32 = 64;
    /// Threads along a side of a block.
    pub const SIDE: u32 = 16;
    /// Words of a nearest: number, squared distance, squared distance of the second.
    pub const WORDS: usize = 3;
}
