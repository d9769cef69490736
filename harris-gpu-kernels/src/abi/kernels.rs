//! The lists of kernels, as macros.

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
        $crate::for_each_fused! { [$crate::with_fused_kernels] [$($apply)*] }
    };
}

/// The fused kernels, with the arguments that they all have.
///
/// Blocks are pieces of the strips of `fused::Strips`, from row `first` to row `last`: `whole` of `rows` rows in each, then
/// others of `later`. Samples, rows `pitch` samples apart, to the keys of corners that exceed what is known of the threshold,
/// and their number. Rows of
/// blocks are images, `stride` samples apart, of `pieces` each, of which the first here is number `piece`; each has room
/// for `room` keys. `counters` words of each image from word `tables` of the state on become zeros.
/// `smoothing` is the radius of a binomial, 0 to 2, and `gradient` one of [`gradient`](super::gradient) with fixed taps;
/// `gradient_radius` and `window` are the radii of box gradients and of wide windows, which others know. `radius` is that of
/// suppression; where it is `fused::WRITES_RESPONSES`, responses are written and no corners found, and where `extent` is 1 their
/// extent is told to the state.
/// The masks' rows are `mask_pitch` bytes apart, a multiple of 4, also where others take a mask; 0 is none.
#[doc(hidden)]
#[macro_export]
macro_rules! with_fused_kernels {
    ([$($apply:tt)*] $($name:ident [$blocks:tt, $of_responses:tt, $cells:tt] $word:ident: $samples:ident, $weights:ident, $window:tt, $most:tt;)*) => {
        $($apply)*! {
            // One block: ends when the first word has come to what is one more than the second, which then counts on.
            stream_wait::wait_for_copy [1, 0] (words: [u32]);

            // By run: interleaved samples, rows `stride` samples apart, to a stack of planes, one a channel.
            load::load_u8 [256, 0] (image: [u8], planes: [i32], width: u32, height: u32, rows: u32, channels: u32, stride: u64);
            load::load_u16 [256, 0] (image: [u16], planes: [i32], width: u32, height: u32, rows: u32, channels: u32, stride: u64);
            load::load_u8_as_f32 [256, 0] (image: [u8], planes: [f32], width: u32, height: u32, rows: u32, channels: u32, stride: u64);
            load::load_u16_as_f32 [256, 0] (image: [u16], planes: [f32], width: u32, height: u32, rows: u32, channels: u32, stride: u64);
            // Floats, of which it tells in the state whether there is one that images may not have.
            load::load_f32 [256, 0] (image: [f32], planes: [f32], state: [u32], width: u32, height: u32, rows: u32, channels: u32, stride: u64);
            // By word: integers as floats.
            load::integers_to_f32 [256, 0] (from: [i32], to: [f32], count: u64);

            // By run, on stacks: lines of taps along one axis.
            lines::binomial_f32 [256, 0] (from: [f32], to: [f32], width: u32, height: u32, rows: u32, axis: u32, size: u32, border: u32);
            lines::weighted_f32 [256, 0] (from: [f32], to: [f32], taps: [f32], width: u32, height: u32, rows: u32, axis: u32, size: u32, border: u32);
            // By run, on stacks: a box, or the difference of its sides, along one axis.
            lines::box_f32 [256, 0] (from: [f32], to: [f32], width: u32, height: u32, rows: u32, axis: u32, size: u32, shape: u32, border: u32);
            // Blocks are pieces of `boxes::columns` columns and `rows` rows: gx and gy of boxes of integers, at a cost that does not grow with their
            // size.
            boxes::box_gradient [128, 1064] (from: [i32], gx: [i32], gy: [i32], width: u32, height: u32, rows: u32, size: u32, border: u32);
            // Blocks are warps, pieces of `large::own` columns and `rows` rows of those from `first` to `last`: samples of one channel, rows `pitch`
            // apart, a multiple of 4, to responses by box gradients and windows of these radii; 0 within `frame` pixels of the edges.
            fused::map_boxes31 [32, 2000] (image: [u8], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, gradient: u32, window: u32, scale: f32, measure: u32, parameter: f32, frame: u32);

            // Blocks are warps, pieces of `gaussians::own` columns and `rows` rows of those from `first` to `last`: samples of one channel to responses by
            // gradients of weighted sums, down by `along` and across by `across`, or the other way, and weighted windows; weights from the centre on.
            fused::map_gaussians9 [32, 1219] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, extent: u32, along0: f32, along1: f32, along2: f32, along3: f32, along4: f32, across1: f32, across2: f32, across3: f32, across4: f32, window0: f32, window1: f32, window2: f32, window3: f32, window4: f32);
            // The same of samples that are smoothed before by a binomial's weights, whose sums times `unit` are rounded; not where a border rule other
            // than mirroring has a part in what is asked for.
            fused::map_binomial_gaussians5 [32, 835] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, extent: u32, smoothing0: f32, smoothing1: f32, smoothing2: f32, unit: f32, along0: f32, along1: f32, along2: f32, across1: f32, across2: f32, window0: f32, window1: f32, window2: f32);
            fused::map_binomial_gaussians9 [32, 1219] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, extent: u32, smoothing0: f32, smoothing1: f32, smoothing2: f32, unit: f32, along0: f32, along1: f32, along2: f32, along3: f32, along4: f32, across1: f32, across2: f32, across3: f32, across4: f32, window0: f32, window1: f32, window2: f32, window3: f32, window4: f32);
            // Weighted windows of samples that are smoothed by weighted sums, behind gradients of three taps, by their weights along an edge.
            fused::map_smoothed_window5 [32, 835] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, extent: u32, smoothing0: f32, smoothing1: f32, smoothing2: f32, smoothing3: f32, smoothing4: f32, outside: f32, inside: f32, window0: f32, window1: f32, window2: f32);
            fused::map_smoothed_window9 [32, 1219] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, extent: u32, smoothing0: f32, smoothing1: f32, smoothing2: f32, smoothing3: f32, smoothing4: f32, outside: f32, inside: f32, window0: f32, window1: f32, window2: f32, window3: f32, window4: f32);
            // The same of 16-bit samples and of floats, which are smoothed by weighted sums where `unit` is 0, else by a binomial, whose sums are
            // multiplied by it; of floats it tells in the state whether there is one that images may not have. Rows are `pitch` bytes apart.
            fused::map_u16_window5 [32, 835] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, extent: u32, smoothing0: f32, smoothing1: f32, smoothing2: f32, unit: f32, outside: f32, inside: f32, window0: f32, window1: f32, window2: f32);
            fused::map_u16_window9 [32, 1219] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, extent: u32, smoothing0: f32, smoothing1: f32, smoothing2: f32, unit: f32, outside: f32, inside: f32, window0: f32, window1: f32, window2: f32, window3: f32, window4: f32);
            fused::map_f32_window5 [32, 835] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, extent: u32, smoothing0: f32, smoothing1: f32, smoothing2: f32, unit: f32, outside: f32, inside: f32, window0: f32, window1: f32, window2: f32);
            fused::map_f32_window9 [32, 1219] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, extent: u32, smoothing0: f32, smoothing1: f32, smoothing2: f32, unit: f32, outside: f32, inside: f32, window0: f32, window1: f32, window2: f32, window3: f32, window4: f32);
            // By central differences, of samples of three channels, too.
            fused::map_central_gaussian5 [32, 835] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, extent: u32, window0: f32, window1: f32, window2: f32);
            fused::map_rgb_central_gaussian5 [32, 835] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, extent: u32, window0: f32, window1: f32, window2: f32);

            // By run, on stacks: binomials of both axes; of integers rounded, but those of 3 are sums where they are not to be divided.
            smoothing::binomial3_i32 [256, 0] (from: [i32], to: [i32], width: u32, height: u32, rows: u32, border: u32, divides: u32);
            smoothing::binomial5_i32 [256, 0] (from: [i32], to: [i32], width: u32, height: u32, rows: u32, border: u32);
            smoothing::binomial3_f32 [256, 0] (from: [f32], to: [f32], width: u32, height: u32, rows: u32, border: u32, divides: u32);
            smoothing::binomial5_f32 [256, 0] (from: [f32], to: [f32], width: u32, height: u32, rows: u32, border: u32);
            gradient::gradient_i32 [256, 0] (from: [i32], gx: [i32], gy: [i32], width: u32, height: u32, rows: u32, kind: u32, border: u32);
            gradient::gradient_f32 [256, 0] (from: [f32], gx: [f32], gy: [f32], width: u32, height: u32, rows: u32, kind: u32, border: u32);
            // Sobel's of `taps` taps, 5 or 7.
            gradient::sobel_i32 [256, 0] (from: [i32], gx: [i32], gy: [i32], width: u32, height: u32, rows: u32, taps: u32, border: u32);
            gradient::sobel_f32 [256, 0] (from: [f32], gx: [f32], gy: [f32], width: u32, height: u32, rows: u32, taps: u32, border: u32);

            // By run: stacks of gradients, one a channel, to a stack of three products.
            tensor::gradient_products_f32 [256, 0] (gx: [f32], gy: [f32], products: [f32], width: u32, height: u32, rows: u32, channels: u32);
            // To weighted sums down; `rounded` are products that are exact, and rounded before they are weighed.
            tensor::window_columns_i32 [256, 0] (gx: [i32], gy: [i32], sums: [i32], taps: [f32], width: u32, height: u32, rows: u32, channels: u32, size: u32, border: u32);
            tensor::window_columns_i64 [256, 0] (gx: [i32], gy: [i32], sums: [i64], taps: [f32], width: u32, height: u32, rows: u32, channels: u32, size: u32, border: u32);
            tensor::window_columns_rounded [256, 0] (gx: [i32], gy: [i32], sums: [f32], taps: [f32], width: u32, height: u32, rows: u32, channels: u32, size: u32, border: u32);
            tensor::window_columns_f32 [256, 0] (gx: [f32], gy: [f32], sums: [f32], taps: [f32], width: u32, height: u32, rows: u32, channels: u32, size: u32, border: u32);

            // A stack of three window sums to responses; 0 within `frame` pixels of the edges. By run.
            response::response_f32 [256, 0] (sums: [f32], response: [f32], width: u32, height: u32, rows: u32, scale: f32, measure: u32, parameter: f32, frame: u32, behind: u32);
            // A stack of their weighted sums down the window, which are weighed and summed across it before.
            response::window_rows_response_i32 [256, 0] (sums: [i32], response: [f32], taps: [f32], width: u32, height: u32, rows: u32, size: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, behind: u32);
            response::window_rows_response_i64 [256, 0] (sums: [i64], response: [f32], taps: [f32], width: u32, height: u32, rows: u32, size: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, behind: u32);
            response::window_rows_response_f32 [256, 0] (sums: [f32], response: [f32], taps: [f32], width: u32, height: u32, rows: u32, size: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, behind: u32);
            // Stacks of gradients to responses by box windows, by piece as `box_gradient`.
            response::box_response_i32 [128, 1596] (gx: [i32], gy: [i32], response: [f32], width: u32, height: u32, rows: u32, channels: u32, size: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32);
            response::box_response_i64 [128, 1596] (gx: [i32], gy: [i32], response: [f32], width: u32, height: u32, rows: u32, channels: u32, size: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32);

            // By run: the least and greatest response of all competitors, into the state.
            threshold::response_range [256, 16] (response: [f32], mask: [u8], state: [u32], width: u32, height: u32, rows: u32, frame: u32, behind: u32, mask_pitch: u32);
            // One block: the state's threshold.
            threshold::set_threshold [32, 0] (state: [u32], kind: u32, value: f64);
            // By run: Rosin's histogram, in several copies, which blocks share. One block: his threshold.
            threshold::response_histogram [256, 2048] (response: [f32], mask: [u8], state: [u32], counts: [u32], bins: u32, copies: u32, width: u32, height: u32, rows: u32, frame: u32, behind: u32, mask_pitch: u32);
            threshold::rosin_threshold [256, 16] (state: [u32], counts: [u32], bins: u32, copies: u32);

            // By run: the keys of corners, in no order, into a list that the state counts, also beyond its capacity.
            suppression::suppress [256, 0] (response: [f32], mask: [u8], state: [u32], keys: [u64], capacity: u32, width: u32, height: u32, rows: u32, frame: u32, behind: u32, margin: u32, radius: u32, plateau: u32, mask_pitch: u32);
            // Some warps a piece: candidates of a walk that are not the strongest so far around become keys of no response.
            suppression::suppress_candidates [256, 0] (response: [f32], mask: [u8], state: [u32], keys: [u64], counts: [u32], pieces: u32, room: u32, width: u32, height: u32, frame: u32, radius: u32, plateau: u32, threshold: u32, value: f64, mask_pitch: u32);

            // Lists, a row of blocks each, `pitch` keys apart; their states tell how many keys each has, of which the first `most`
            // count. Where `sorting` says so, keys are sorted in the order of rows. `order::THREADS_PER_KEY` threads a key: runs of `run` keys, a multiple
            // of those that a block has.
            sort::sort_runs [256, 1024] (from: [u64], to: [u64], state: [u32], pitch: u32, most: u32, run: u32, sorting: u32);
            // Lists, by key: groups of `order::RUNS_PER_MERGE` sorted runs of `run` keys, a power of two, to single ones.
            sort::merge_runs [256, 0] (from: [u64], to: [u64], state: [u32], pitch: u32, most: u32, run: u32, sorting: u32);
            // Corners by rank, of which the first `most` count, at least so far from each other as the root of `squared`, in `parts` shares, a multiple
            // of `order::SHARES_PER_COUNT`.
            // By key: each into its cell of a grid of squares as long as that, which have room for `room` corners; none is decided on.
            min_distance::grid_insert [256, 0] (keys: [u64], cells: [u64], filed: [u32], decisions: [u32], shares: [u32], state: [u32], most: u32, parts: u32, width: u32, side: u32, columns: u32, room: u32, limit: u32, is_first: u32);
            // The first time for a list it `is_first`; of a list that was thinned before, the first `limit` count.
            // Blocks are shares: decides who is kept, and counts these.
            min_distance::min_distance_propagate [256, 1] (keys: [u64], cells: [u64], filed: [u32], decisions: [u32], shares: [u32], state: [u32], most: u32, parts: u32, width: u32, side: u32, columns: u32, rows: u32, room: u32, squared: u64);
            // The same where corners have places between pixels, which are to be so far from each other: cells are those of their pixels.
            min_distance::min_distance_propagate_subpixel [256, 1] (keys: [u64], keypoints: [f32], cells: [u64], filed: [u32], decisions: [u32], shares: [u32], state: [u32], most: u32, parts: u32, width: u32, side: u32, columns: u32, rows: u32, room: u32, squared: f64);
            // Warps are `order::SHARES_PER_COUNT` shares: those kept, in their order, and their number, also into a report.
            min_distance::min_distance_compact [256, 0] (from: [u64], to: [u64], decisions: [u32], shares: [u32], state: [u32], report: [u32], most: u32, parts: u32);
            // Lists, by key: x, y, scale and response of corners.
            keypoints::write_keypoints [256, 0] (keys: [u64], response: [f32], keypoints: [f32], state: [u32], pitch: u32, most: u32, width: u32, height: u32, frame: u32, behind: u32, subpixel: u32);
            // By keypoint, of which there are `count`: 1 at its pixel in a mask of zeros, row after row.
            keypoint_mask::keypoint_mask_u8 [256, 0] (keypoints: [f32], mask: [u8], count: u32, width: u32, height: u32);
            keypoint_mask::keypoint_mask_f32 [256, 0] (keypoints: [f32], mask: [f32], count: u32, width: u32, height: u32);
            // Blocks are warps, which have a corner at a time, at a pixel's centre: to where the edges around it meet; interleaved samples, rows `stride` samples apart.
            refine::refine_u8 [32, 1573] (image: [u8], keypoints: [f32], state: [u32], most: u32, width: u32, height: u32, channels: u32, stride: u64, radius: u32);
            refine::refine_u16 [32, 1573] (image: [u16], keypoints: [f32], state: [u32], most: u32, width: u32, height: u32, channels: u32, stride: u64, radius: u32);
            refine::refine_f32 [32, 1573] (image: [f32], keypoints: [f32], state: [u32], most: u32, width: u32, height: u32, channels: u32, stride: u64, radius: u32);
            // Warps are pieces, rows of blocks images: those candidates that exceed the threshold, in no order, into a list that the
            // state counts, also beyond its `pitch`. Each image has `pieces`, which have room for `room` candidates each.
            candidates::threshold_compact [256, 16] (from: [u64], counts: [u32], to: [u64], state: [u32], pieces: u32, room: u32, pitch: u32, kind: u32, value: f64);

            // The same by `buckets::WARPS_PER_TILE` warps a piece into `bins` bins, a power of two, of `buckets::CAPACITY` keys each, which sort them roughly,
            // where `sorting` says so in the order of rows. Word `tables` of the state begins what counts them: `buckets::counters` of each image.
            // Bins are equal steps of responses, or of pixels; but where `every` is not 0, each `every`th of the dividers begins one.
            bucket_sort::bucket_scatter [256, 64] (from: [u64], counts: [u32], to: [u64], state: [u32], dividers: [u64], pieces: u32, room: u32, tables: u32, bins: u32, every: u32, kind: u32, value: f64, sorting: u32, pixels: u32);
            // By divider, rows of blocks lists, sorted, where `sorting` says so in the order of rows: `buckets::MAX` keys of each, which divide it evenly.
            bucket_sort::select_splitters [256, 0] (from: [u64], dividers: [u64], state: [u32], pitch: u32, sorting: u32);
            // Warps are `buckets::PER_WARP` bins, rows of blocks images: x, y, scale and response of their corners, or `as_keys`, each in its place of the
            // sorted list, of which the first `most` count, and the list's length, or more than any where a bin had no room; and a
            // report, the states as they then are; what is left of them is that length, and what walks need: zeros, or, where an image
            // `foretells` the greatest response of the next, that.
            bucket_sort::bucket_gather [256, 4112] (from: [u64], listed: [u64], keypoints: [f32], state: [u32], report: [u32], tables: u32, bins: u32, sorting: u32, pitch: u32, most: u32, width: u32, as_keys: u32, foretells: u32);

            // Warps are rows: interleaved samples to sums of gray levels before each column, in rows of `pitch` words from the
            // second on.
            integral::integral_rows_u8 [256, 0] (image: [u8], sums: [u32], width: u32, height: u32, channels: u32, stride: u64, pitch: u32);
            integral::integral_rows_u16 [256, 0] (image: [u16], sums: [u32], width: u32, height: u32, channels: u32, stride: u64, pitch: u32);
            integral::integral_rows_f32 [256, 0] (image: [f32], sums: [u32], width: u32, height: u32, channels: u32, stride: u64, pitch: u32);
            // By column, rows of blocks are bands of `rows` rows: the sums of each band, then those of all rows above.
            integral::integral_bands [256, 0] (sums: [u32], bands: [u32], width: u32, height: u32, pitch: u32, rows: u32);
            integral::integral_columns [256, 0] (sums: [u32], bands: [u32], width: u32, height: u32, pitch: u32, rows: u32);

            // By sample of all `count` layers: determinants.
            hessian::hessian_determinants [256, 0] (sums: [u32], layers: [u32], responses: [f32], width: u32, height: u32, pitch: u32, count: u32, samples: u32);
            // By sample of all `count` triples: the keys of peaks, in no order, into a list that the state counts, also beyond its
            // capacity.
            hessian::scale_peaks [256, 0] (layers: [u32], triples: [u32], responses: [f32], mask: [u8], state: [u32], keys: [u64], capacity: u32, mask_pitch: u32, threshold: f32, count: u32, samples: u32);
            // By key: x, y, scale and response.
            hessian::write_blobs [256, 0] (sums: [u32], layers: [u32], triples: [u32], responses: [f32], keys: [u64], keypoints: [f32], width: u32, height: u32, pitch: u32, count: u32, found: u32);
            // By keypoint: those of equal strength in their order.
            hessian::sort_ties [256, 0] (from: [f32], to: [f32], count: u32);

            // Blocks are keypoints: x, y and scale of each to its descriptor.
            surf::surf [128, 688] (sums: [u32], frames: [f32], tables: [f32], descriptors: [f32], width: u32, height: u32, pitch: u32, upright: u32);

            // Columns of blocks are tiles of `matching::TILE` queries, rows of blocks every `stride`th tile of the trained
            // descriptors: the nearest of each query among those, three words each.
            nearest::nearest_descriptors [256, 4160] (query: [f32], train: [f32], parts: [u32], queries: u32, trained: u32, stride: u32);
            // By query: the nearest of all parts.
            nearest::merge_nearest [256, 0] (parts: [u32], found: [u32], queries: u32, count: u32);

            // Blocks are tiles of the rim in which border rules have a part, rows of blocks images, `stride` samples apart: from samples, rows `pitch`
            // samples apart, to the keys of corners and their number, as fused kernels leave them of the pieces before number `piece`, or to responses,
            // where there is no room for keys. Windows whose weights are all alike slide.
            border_band::border_band_u8 [256, 5920] (image: [u8], state: [u32], keys: [u64], counts: [u32], response: [f32], stride: u64, width: u32, height: u32, pitch: u32, channels: u32, border: u32, smoothing: u32, gradient: u32, window: u32, slides: u32, radius: u32, scale: f32, measure: u32, parameter: f32, margin: u32, plateau: u32, threshold: u32, value: f32, piece: u32, pieces: u32, room: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            border_band::border_band_u16 [256, 2264] (image: [u16], state: [u32], keys: [u64], counts: [u32], response: [f32], stride: u64, width: u32, height: u32, pitch: u32, channels: u32, border: u32, smoothing: u32, gradient: u32, window: u32, slides: u32, radius: u32, scale: f32, measure: u32, parameter: f32, margin: u32, plateau: u32, threshold: u32, value: f32, piece: u32, pieces: u32, room: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            border_band::border_band_f32 [256, 1600] (image: [f32], state: [u32], keys: [u64], counts: [u32], response: [f32], stride: u64, width: u32, height: u32, pitch: u32, channels: u32, border: u32, smoothing: u32, gradient: u32, window: u32, slides: u32, radius: u32, scale: f32, measure: u32, parameter: f32, margin: u32, plateau: u32, threshold: u32, value: f32, piece: u32, pieces: u32, room: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            border_band::border_band_rounded_u8 [256, 1600] (image: [u8], state: [u32], keys: [u64], counts: [u32], response: [f32], stride: u64, width: u32, height: u32, pitch: u32, channels: u32, border: u32, smoothing: u32, gradient: u32, window: u32, slides: u32, radius: u32, scale: f32, measure: u32, parameter: f32, margin: u32, plateau: u32, threshold: u32, value: f32, piece: u32, pieces: u32, room: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);

            $(fused::$name [32, $cells] (image: [$word], state: [u32], keys: [u64], counts: [u32], response: [f32], stride: u64, width: u32, height: u32, pitch: u32, strips: u32, columns: u32, first: u32, last: u32, rows: u32, whole: u32, later: u32, scale: f32, measure: u32, parameter: f32, frame: u32, smoothing: u32, gradient: u32, gradient_radius: u32, window: u32, radius: u32, margin: u32, plateau: u32, threshold: u32, value: f32, reach: f32, piece: u32, pieces: u32, room: u32, tables: u32, counters: u32, extent: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);)*
        }
    };
}

/// Calls a macro with what stands behind it in brackets, and the fused kernels:
///
/// ```text
/// name [blocks that a multiprocessor is to hold: of a kernel that finds corners, and of one that writes responses; cells of shared memory]
///     word of a sample: samples, weights and radius of the window, greatest radius of suppression;
/// ```
#[macro_export]
macro_rules! for_each_fused {
    ([$($apply:tt)*] $($before:tt)*) => {
        $($apply)*! { $($before)*
            u8_box3 [16, 16, 0] u8: Bytes, Box, 1, 2;
            u8_box5 [16, 16, 320] u8: Bytes, Box, 2, 2;
            u8_box7 [16, 16, 448] u8: Bytes, Box, 3, 2;
            u8_box21 [16, 16, 1584] u8: Bytes, Wide, 10, 2;
            u8_box31 [12, 12, 2224] u8: Bytes, Wide, 15, 2;
            u8_binomial3 [16, 16, 0] u8: Bytes, Binomial, 1, 2;
            u8_binomial5 [12, 16, 0] u8: Bytes, Binomial, 2, 2;
            u8_binomial7 [8, 12, 0] u8: Bytes, Binomial, 3, 2;
            u8_gaussian3 [12, 16, 0] u8: Bytes, Gaussian, 1, 2;
            u8_gaussian5 [8, 12, 0] u8: Bytes, Gaussian, 2, 2;
            u8_gaussian7 [8, 8, 0] u8: Bytes, Gaussian, 3, 2;
            u16_box3 [8, 12, 0] u16: Words, Box, 1, 2;
            u16_box5 [8, 12, 0] u16: Words, Box, 2, 2;
            u16_box7 [8, 8, 0] u16: Words, Box, 3, 2;
            f32_box3 [12, 16, 0] f32: Floats, Box, 1, 2;
            f32_box5 [8, 12, 0] f32: Floats, Box, 2, 2;
            f32_box7 [8, 8, 0] f32: Floats, Box, 3, 2;
            rgb_box3 [8, 8, 0] u8: Colours, Box, 1, 2;
            rgb_box5 [8, 8, 0] u8: Colours, Box, 2, 2;
            rgb_box7 [8, 8, 0] u8: Colours, Box, 3, 2;
            box_gradient_box9 [12, 16, 1128] u8: BoxGradients, Wide, 4, 4;
            responses [16, 16, 0] f32: Responses, Box, 0, 4;
        }
    };
}
