//! Tables of all kernels with their arguments, as macros.

/// Calls a macro with the table of all kernels.
///
/// ```text
/// module::name [threads of a block, cells of shared memory]
///     (argument: [type of a buffer's words] | type, ...);
/// ```
///
/// `width` and `height` are the image's, which has fewer than 2³¹ pixels. A stack of planes is one
/// buffer, plane after plane. The block row ([`Simt::block_row`](crate::Simt::block_row)) is the
/// number of the plane.
///
/// In a *thread-per-column* kernel, the threads of a block have neighbouring columns. Each goes
/// down `rows` rows of its column.
#[macro_export]
macro_rules! for_each_kernel {
    ($($apply:tt)*) => {
        $crate::for_each_fused! { [$crate::with_fused_kernels] [$($apply)*] }
    };
}

/// Adds the fused kernels, with the arguments that they share, to the table.
///
/// A block is a tile of a strip of `fused::Strips`, within rows `first` to `last`, exclusive. The
/// first `full_tiles` tiles of a strip have `rows` rows, the others `tail_rows`. The block row is
/// the number of the image.
///
/// Input rows are `pitch` samples apart, and images `stride` samples. Output is each tile's list of
/// candidates above the threshold as far as it is known, and their number. A list can hold
/// `capacity` keys. An image has `tiles` tiles, and the launch begins with tile `first_tile`. The
/// kernel also clears `counters` words of each image, from word `counters_start` of the state on.
///
/// `smoothing` is the radius of a binomial, 0 to 2, and `gradient` one of
/// [`gradient`](super::gradient) with fixed taps. `gradient_radius` and `window` are the radii of
/// box gradients and of box windows of any radius; other kernels ignore them.
///
/// `suppression_radius` may be `fused::NO_SUPPRESSION`. Then responses are written and no corners
/// found. Where `finds_range` is also 1, the least and greatest response are merged into the state.
///
/// Rows of the mask are `mask_pitch` bytes apart, a multiple of 4; 0 means no mask. This holds for
/// all kernels with a mask.
#[doc(hidden)]
#[macro_export]
macro_rules! with_fused_kernels {
    ([$($apply:tt)*] $($name:ident [$blocks:tt, $of_responses:tt, $cells:tt] $word:ident: $input:ident, $weights:ident, $window:tt, $most:tt;)*) => {
        $($apply)*! {
            // One block. Waits until the first word reaches the second plus one, then increments the
            // second.
            stream_wait::wait_for_copy [1, 0] (words: [u32]);

            // Thread per column. Interleaved samples, rows `stride` samples apart, to a stack of
            // one plane per channel.
            load::load_u8 [256, 0] (image: [u8], planes: [i32], width: u32, height: u32, rows: u32, channels: u32, stride: u64);
            load::load_u16 [256, 0] (image: [u16], planes: [i32], width: u32, height: u32, rows: u32, channels: u32, stride: u64);
            load::load_u8_as_f32 [256, 0] (image: [u8], planes: [f32], width: u32, height: u32, rows: u32, channels: u32, stride: u64);
            load::load_u16_as_f32 [256, 0] (image: [u16], planes: [f32], width: u32, height: u32, rows: u32, channels: u32, stride: u64);
            // Floats. Also marks the state where a sample is outside the range that images may
            // have.
            load::load_f32 [256, 0] (image: [f32], planes: [f32], state: [u32], width: u32, height: u32, rows: u32, channels: u32, stride: u64);
            // Thread per word. Integers to floats.
            load::integers_to_f32 [256, 0] (from: [i32], to: [f32], count: u64);

            // Thread per column, on stacks. Weighted sums of lines along one axis.
            lines::binomial_f32 [256, 0] (from: [f32], to: [f32], width: u32, height: u32, rows: u32, axis: u32, size: u32, border: u32);
            lines::weighted_f32 [256, 0] (from: [f32], to: [f32], taps: [f32], width: u32, height: u32, rows: u32, axis: u32, size: u32, border: u32);
            // Thread per column, on stacks. A box sum, or the difference of its sides, along one
            // axis.
            lines::box_f32 [256, 0] (from: [f32], to: [f32], width: u32, height: u32, rows: u32, axis: u32, size: u32, shape: u32, border: u32);
            // Blocks are tiles of `boxes::columns` columns and `rows` rows. gx and gy of integer
            // boxes, at a cost independent of their size.
            boxes::box_gradient [128, 1064] (from: [i32], gx: [i32], gy: [i32], width: u32, height: u32, rows: u32, size: u32, border: u32);
            // Blocks are warps, with tiles of `large::own` columns and `rows` rows, from row
            // `first` to row `last`. Samples of one channel, rows `pitch` apart, a multiple of 4,
            // to responses. `gradient` and `window` are radii of boxes. Responses within `frame`
            // pixels of the edges are 0.
            fused::map_boxes31 [32, 2000] (image: [u8], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, gradient: u32, window: u32, scale: f32, measure: u32, parameter: f32, frame: u32);

            // Blocks are warps, with tiles of `gaussians::own` columns and `rows` rows, from row
            // `first` to row `last`. Samples of one channel to responses by weighted gradients and
            // windows. `along` are the weights along an edge and `across` those across it, from the
            // centre outwards.
            fused::map_gaussians9 [32, 1219] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, finds_range: u32, along0: f32, along1: f32, along2: f32, along3: f32, along4: f32, across1: f32, across2: f32, across3: f32, across4: f32, window0: f32, window1: f32, window2: f32, window3: f32, window4: f32);
            // Samples smoothed by a binomial first, whose sums times `unit` are rounded. Not for
            // results that depend on a border rule other than mirroring.
            fused::map_binomial_gaussians5 [32, 835] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, finds_range: u32, smoothing0: f32, smoothing1: f32, smoothing2: f32, unit: f32, along0: f32, along1: f32, along2: f32, across1: f32, across2: f32, window0: f32, window1: f32, window2: f32);
            fused::map_binomial_gaussians9 [32, 1219] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, finds_range: u32, smoothing0: f32, smoothing1: f32, smoothing2: f32, unit: f32, along0: f32, along1: f32, along2: f32, along3: f32, along4: f32, across1: f32, across2: f32, across3: f32, across4: f32, window0: f32, window1: f32, window2: f32, window3: f32, window4: f32);
            // Samples smoothed by weighted sums first. Gradients of three taps, given by their
            // weights along an edge.
            fused::map_smoothed_window5 [32, 835] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, finds_range: u32, smoothing0: f32, smoothing1: f32, smoothing2: f32, smoothing3: f32, smoothing4: f32, outside: f32, inside: f32, window0: f32, window1: f32, window2: f32);
            fused::map_smoothed_window9 [32, 1219] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, finds_range: u32, smoothing0: f32, smoothing1: f32, smoothing2: f32, smoothing3: f32, smoothing4: f32, outside: f32, inside: f32, window0: f32, window1: f32, window2: f32, window3: f32, window4: f32);
            // 16-bit samples and floats, with rows `pitch` bytes apart. Where `unit` is 0,
            // smoothing is by weighted sums, else by a binomial whose sums are multiplied by
            // `unit`. Floats outside the range that images may have are marked in the state.
            fused::map_u16_window5 [32, 835] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, finds_range: u32, smoothing0: f32, smoothing1: f32, smoothing2: f32, unit: f32, outside: f32, inside: f32, window0: f32, window1: f32, window2: f32);
            fused::map_u16_window9 [32, 1219] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, finds_range: u32, smoothing0: f32, smoothing1: f32, smoothing2: f32, unit: f32, outside: f32, inside: f32, window0: f32, window1: f32, window2: f32, window3: f32, window4: f32);
            fused::map_f32_window5 [32, 835] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, finds_range: u32, smoothing0: f32, smoothing1: f32, smoothing2: f32, unit: f32, outside: f32, inside: f32, window0: f32, window1: f32, window2: f32);
            fused::map_f32_window9 [32, 1219] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, finds_range: u32, smoothing0: f32, smoothing1: f32, smoothing2: f32, unit: f32, outside: f32, inside: f32, window0: f32, window1: f32, window2: f32, window3: f32, window4: f32);
            // Central differences, also of samples of three channels.
            fused::map_central_gaussian5 [32, 835] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, finds_range: u32, window0: f32, window1: f32, window2: f32);
            fused::map_rgb_central_gaussian5 [32, 835] (image: [u8], state: [u32], response: [f32], width: u32, height: u32, pitch: u32, first: u32, last: u32, rows: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, finds_range: u32, window0: f32, window1: f32, window2: f32);

            // Thread per column, on stacks. Binomials along both axes. Results of integers are
            // rounded, except the sums of size 3 where `divides` is 0.
            smoothing::binomial3_i32 [256, 0] (from: [i32], to: [i32], width: u32, height: u32, rows: u32, border: u32, divides: u32);
            smoothing::binomial5_i32 [256, 0] (from: [i32], to: [i32], width: u32, height: u32, rows: u32, border: u32);
            smoothing::binomial3_f32 [256, 0] (from: [f32], to: [f32], width: u32, height: u32, rows: u32, border: u32, divides: u32);
            smoothing::binomial5_f32 [256, 0] (from: [f32], to: [f32], width: u32, height: u32, rows: u32, border: u32);
            gradient::gradient_i32 [256, 0] (from: [i32], gx: [i32], gy: [i32], width: u32, height: u32, rows: u32, kind: u32, border: u32);
            gradient::gradient_f32 [256, 0] (from: [f32], gx: [f32], gy: [f32], width: u32, height: u32, rows: u32, kind: u32, border: u32);
            // Sobel's gradient of `taps` taps, 5 or 7.
            gradient::sobel_i32 [256, 0] (from: [i32], gx: [i32], gy: [i32], width: u32, height: u32, rows: u32, taps: u32, border: u32);
            gradient::sobel_f32 [256, 0] (from: [f32], gx: [f32], gy: [f32], width: u32, height: u32, rows: u32, taps: u32, border: u32);

            // Thread per column. Stacks of gradients, one plane per channel, to a stack of three
            // products.
            tensor::gradient_products_f32 [256, 0] (gx: [f32], gy: [f32], products: [f32], width: u32, height: u32, rows: u32, channels: u32);
            // Weighted column sums of products. `rounded` stands for exact products that are
            // rounded before they are weighted.
            tensor::window_columns_i32 [256, 0] (gx: [i32], gy: [i32], sums: [i32], taps: [f32], width: u32, height: u32, rows: u32, channels: u32, size: u32, border: u32);
            tensor::window_columns_i64 [256, 0] (gx: [i32], gy: [i32], sums: [i64], taps: [f32], width: u32, height: u32, rows: u32, channels: u32, size: u32, border: u32);
            tensor::window_columns_rounded [256, 0] (gx: [i32], gy: [i32], sums: [f32], taps: [f32], width: u32, height: u32, rows: u32, channels: u32, size: u32, border: u32);
            tensor::window_columns_f32 [256, 0] (gx: [f32], gy: [f32], sums: [f32], taps: [f32], width: u32, height: u32, rows: u32, channels: u32, size: u32, border: u32);

            // Thread per column. A stack of three window sums to responses, which are 0 within
            // `frame` pixels of the edges.
            response::response_f32 [256, 0] (sums: [f32], response: [f32], width: u32, height: u32, rows: u32, scale: f32, measure: u32, parameter: f32, frame: u32, frame_behind: u32);
            // Stacks of weighted column sums, which are first weighted and summed across the
            // window.
            response::window_rows_response_i32 [256, 0] (sums: [i32], response: [f32], taps: [f32], width: u32, height: u32, rows: u32, size: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, frame_behind: u32);
            response::window_rows_response_i64 [256, 0] (sums: [i64], response: [f32], taps: [f32], width: u32, height: u32, rows: u32, size: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, frame_behind: u32);
            response::window_rows_response_f32 [256, 0] (sums: [f32], response: [f32], taps: [f32], width: u32, height: u32, rows: u32, size: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32, frame_behind: u32);
            // Stacks of gradients to responses by box windows, in tiles like those of
            // `box_gradient`.
            response::box_response_i32 [128, 1596] (gx: [i32], gy: [i32], response: [f32], width: u32, height: u32, rows: u32, channels: u32, size: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32);
            response::box_response_i64 [128, 1596] (gx: [i32], gy: [i32], response: [f32], width: u32, height: u32, rows: u32, channels: u32, size: u32, border: u32, scale: f32, measure: u32, parameter: f32, frame: u32);

            // Thread per column. Least and greatest response of all competing pixels, merged into
            // the state.
            threshold::response_range [256, 16] (response: [f32], mask: [u8], state: [u32], width: u32, height: u32, rows: u32, frame: u32, frame_behind: u32, mask_pitch: u32);
            // One block. Computes the threshold and stores it in the state.
            threshold::set_threshold [32, 0] (state: [u32], kind: u32, value: f64);
            // Rosin's histogram, thread per column, in several copies that blocks share. Then
            // Rosin's threshold, in one block.
            threshold::response_histogram [256, 2048] (response: [f32], mask: [u8], state: [u32], counts: [u32], bins: u32, copies: u32, width: u32, height: u32, rows: u32, frame: u32, frame_behind: u32, mask_pitch: u32);
            threshold::rosin_threshold [256, 16] (state: [u32], counts: [u32], bins: u32, copies: u32);

            // Thread per column. Keys of corners, in no order. The state counts them, also beyond
            // the list's capacity.
            suppression::suppress [256, 0] (response: [f32], mask: [u8], state: [u32], keys: [u64], capacity: u32, width: u32, height: u32, rows: u32, frame: u32, frame_behind: u32, margin: u32, radius: u32, plateau: u32, mask_pitch: u32);
            // Several warps per tile. Candidates of a sweep that are not maxima within the full
            // radius become keys of no response.
            suppression::suppress_candidates [256, 0] (response: [f32], mask: [u8], state: [u32], keys: [u64], counts: [u32], tiles: u32, capacity: u32, width: u32, height: u32, frame: u32, radius: u32, plateau: u32, threshold_kind: u32, threshold_value: f64, mask_pitch: u32);

            // A block row per list, with lists `pitch` keys apart. The state has the length of a
            // list, of which the first `most` keys count. `order` is a constant of
            // `order`.
            // `order::THREADS_PER_KEY` threads per key sort runs of `run` keys, a multiple of a
            // block's keys.
            sort::sort_runs [256, 1024] (from: [u64], to: [u64], state: [u32], pitch: u32, most: u32, run: u32, order: u32);
            // Thread per key of a list. Merges groups of `order::RUNS_PER_MERGE` sorted runs of
            // `run` keys, a power of two.
            sort::merge_runs [256, 0] (from: [u64], to: [u64], state: [u32], pitch: u32, most: u32, run: u32, order: u32);
            // Minimum distance between corners in rank order, of which the first `most` count.
            // `squared` is the square of the distance. The list has `parts` shares, a multiple of
            // `order::SHARES_PER_COUNT`. Thread per key. Inserts corners, all undecided, into a
            // grid with cells of the distance's size. A cell can hold `capacity` corners.
            min_distance::grid_insert [256, 0] (keys: [u64], cells: [u64], cell_counts: [u32], decisions: [u32], shares: [u32], state: [u32], most: u32, parts: u32, width: u32, side: u32, columns: u32, capacity: u32, limit: u32, is_first: u32);
            // `is_first` marks the first pass over a list. In later passes the first `limit`
            // corners count. Blocks are shares. Decides which corners are kept, and counts them.
            min_distance::min_distance_propagate [256, 1] (keys: [u64], cells: [u64], cell_counts: [u32], decisions: [u32], shares: [u32], state: [u32], most: u32, parts: u32, width: u32, side: u32, columns: u32, rows: u32, capacity: u32, squared: u64);
            // Distances between refined positions. Cells are those of the corners' pixels.
            min_distance::min_distance_propagate_subpixel [256, 1] (keys: [u64], keypoints: [f32], cells: [u64], cell_counts: [u32], decisions: [u32], shares: [u32], state: [u32], most: u32, parts: u32, width: u32, side: u32, columns: u32, rows: u32, capacity: u32, squared: f64);
            // Warps have `order::SHARES_PER_COUNT` shares. Compacts the kept corners in their
            // order, and writes their number, also to a report.
            min_distance::min_distance_compact [256, 0] (from: [u64], to: [u64], decisions: [u32], shares: [u32], state: [u32], report: [u32], most: u32, parts: u32);
            // Thread per key of a list. x, y, scale and response of corners.
            keypoints::write_keypoints [256, 0] (keys: [u64], response: [f32], keypoints: [f32], state: [u32], pitch: u32, most: u32, width: u32, height: u32, frame: u32, frame_behind: u32, subpixel: u32);
            // Thread per keypoint, of which there are `count`. Sets its pixel to 1 in a dense mask
            // of zeros.
            keypoint_mask::keypoint_mask_u8 [256, 0] (keypoints: [f32], mask: [u8], count: u32, width: u32, height: u32);
            keypoint_mask::keypoint_mask_f32 [256, 0] (keypoints: [f32], mask: [f32], count: u32, width: u32, height: u32);
            // Blocks are warps, with one corner at a time. Moves it from its pixel's centre to
            // where the edges around it meet. Samples are interleaved, with rows `stride` samples
            // apart.
            refine::refine_u8 [32, 1573] (image: [u8], keypoints: [f32], state: [u32], most: u32, width: u32, height: u32, channels: u32, stride: u64, radius: u32);
            refine::refine_u16 [32, 1573] (image: [u16], keypoints: [f32], state: [u32], most: u32, width: u32, height: u32, channels: u32, stride: u64, radius: u32);
            refine::refine_f32 [32, 1573] (image: [f32], keypoints: [f32], state: [u32], most: u32, width: u32, height: u32, channels: u32, stride: u64, radius: u32);
            // A warp per tile, a block row per image. Compacts the candidates above the threshold,
            // in no order. The state counts them, also beyond `pitch`. An image has `tiles` tiles
            // with `capacity` candidates at most.
            candidates::threshold_compact [256, 16] (from: [u64], counts: [u32], to: [u64], state: [u32], tiles: u32, capacity: u32, pitch: u32, threshold_kind: u32, threshold_value: f64);

            // `buckets::WARPS_PER_TILE` warps per tile scatter the candidates above the threshold
            // into `buckets` buckets, a power of two, of `buckets::CAPACITY` keys. `order` is a
            // constant of `order`. The counters begin at word `counters_start` of the state, with
            // `buckets::counters` words per image. Buckets are equal intervals of responses or
            // pixels. If `splitter_step` is not 0, each `splitter_step`th splitter begins one
            // instead.
            bucket_sort::bucket_scatter [256, 64] (from: [u64], counts: [u32], to: [u64], state: [u32], splitters: [u64], tiles: u32, capacity: u32, counters_start: u32, buckets: u32, splitter_step: u32, threshold_kind: u32, threshold_value: f64, order: u32, pixels: u32);
            // Thread per splitter, a block row per list. Selects `buckets::MAX` keys of a sorted
            // list that divide it evenly.
            bucket_sort::select_splitters [256, 0] (from: [u64], splitters: [u64], state: [u32], pitch: u32, order: u32);
            // A warp per `buckets::PER_WARP` buckets, a block row per image. Sorts buckets and
            // writes x, y, scale and response of the corners, or their keys with `as_keys`. Each
            // goes to its place in the sorted list, of which the first `most` count. The length is
            // stored, or a number beyond the capacity after an overflow. The states are copied to a
            // report, and reset for the next sweep. An image that `predicts` leaves its prediction
            // there.
            bucket_sort::bucket_gather [256, 4112] (from: [u64], listed: [u64], keypoints: [f32], state: [u32], report: [u32], counters_start: u32, buckets: u32, order: u32, pitch: u32, most: u32, width: u32, as_keys: u32, predicts: u32);

            // A warp per row. Interleaved samples to prefix sums of gray levels before each column,
            // in rows of `pitch` words from the second on.
            integral::integral_rows_u8 [256, 0] (image: [u8], sums: [u32], width: u32, height: u32, channels: u32, stride: u64, pitch: u32);
            integral::integral_rows_u16 [256, 0] (image: [u16], sums: [u32], width: u32, height: u32, channels: u32, stride: u64, pitch: u32);
            integral::integral_rows_f32 [256, 0] (image: [f32], sums: [u32], width: u32, height: u32, channels: u32, stride: u64, pitch: u32);
            // Thread per column, a block row per band of `rows` rows. Sums of each band, then
            // prefix sums over all rows above.
            integral::integral_bands [256, 0] (sums: [u32], bands: [u32], width: u32, height: u32, pitch: u32, rows: u32);
            integral::integral_columns [256, 0] (sums: [u32], bands: [u32], width: u32, height: u32, pitch: u32, rows: u32);

            // Thread per sample of all `count` layers. Determinants.
            hessian::hessian_determinants [256, 0] (sums: [u32], layers: [u32], responses: [f32], width: u32, height: u32, pitch: u32, count: u32, samples: u32);
            // Thread per sample of all `count` triples. Keys of peaks, in no order. The state
            // counts them, also beyond the capacity.
            hessian::scale_peaks [256, 0] (layers: [u32], triples: [u32], responses: [f32], mask: [u8], state: [u32], keys: [u64], capacity: u32, mask_pitch: u32, threshold: f32, count: u32, samples: u32);
            // Thread per key of a list that the state counts and that holds `most`. x, y, scale and
            // response.
            hessian::write_blobs [256, 0] (sums: [u32], layers: [u32], triples: [u32], responses: [f32], keys: [u64], keypoints: [f32], state: [u32], width: u32, height: u32, pitch: u32, count: u32, most: u32);
            // Thread per keypoint. Orders keypoints of equal response.
            hessian::sort_ties [256, 0] (from: [f32], to: [f32], state: [u32], most: u32);

            // A block per keypoint of a list that the state counts and that holds `capacity`, for
            // the first `most`. x, y and scale to a descriptor.
            surf::surf [128, 688] (sums: [u32], keypoints: [f32], tables: [f32], descriptors: [f32], state: [u32], width: u32, height: u32, pitch: u32, upright: u32, magnification: f32, capacity: u32, most: u32);

            // Block columns are tiles of `matching::TILE` queries. Block rows take every `stride`th
            // tile of the trained descriptors. Finds the nearest of each query among those, three
            // words each.
            nearest::nearest_descriptors [256, 4160] (query: [f32], train: [f32], parts: [u32], queries: u32, trained: u32, stride: u32);
            // Thread per query. Nearest neighbour over all parts.
            nearest::merge_nearest [256, 0] (parts: [u32], found: [u32], queries: u32, count: u32);

            // A block per tile of the border band, a block row per image, with images `stride`
            // samples and rows `pitch` samples apart. Samples to keys of corners and their number,
            // in the lists before tile `first_tile` of the fused kernels. Without space for keys,
            // samples to responses. With `is_box`, windows of equal weights slide.
            border_band::border_band_u8 [256, 5920] (image: [u8], state: [u32], keys: [u64], counts: [u32], response: [f32], stride: u64, width: u32, height: u32, pitch: u32, channels: u32, border: u32, smoothing: u32, gradient: u32, window: u32, is_box: u32, suppression_radius: u32, scale: f32, measure: u32, parameter: f32, margin: u32, plateau: u32, threshold_kind: u32, threshold_value: f32, first_tile: u32, tiles: u32, capacity: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            border_band::border_band_u16 [256, 2264] (image: [u16], state: [u32], keys: [u64], counts: [u32], response: [f32], stride: u64, width: u32, height: u32, pitch: u32, channels: u32, border: u32, smoothing: u32, gradient: u32, window: u32, is_box: u32, suppression_radius: u32, scale: f32, measure: u32, parameter: f32, margin: u32, plateau: u32, threshold_kind: u32, threshold_value: f32, first_tile: u32, tiles: u32, capacity: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            border_band::border_band_f32 [256, 1600] (image: [f32], state: [u32], keys: [u64], counts: [u32], response: [f32], stride: u64, width: u32, height: u32, pitch: u32, channels: u32, border: u32, smoothing: u32, gradient: u32, window: u32, is_box: u32, suppression_radius: u32, scale: f32, measure: u32, parameter: f32, margin: u32, plateau: u32, threshold_kind: u32, threshold_value: f32, first_tile: u32, tiles: u32, capacity: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);
            border_band::border_band_rounded_u8 [256, 1600] (image: [u8], state: [u32], keys: [u64], counts: [u32], response: [f32], stride: u64, width: u32, height: u32, pitch: u32, channels: u32, border: u32, smoothing: u32, gradient: u32, window: u32, is_box: u32, suppression_radius: u32, scale: f32, measure: u32, parameter: f32, margin: u32, plateau: u32, threshold_kind: u32, threshold_value: f32, first_tile: u32, tiles: u32, capacity: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);

            $(fused::$name [32, $cells] (image: [$word], state: [u32], keys: [u64], counts: [u32], response: [f32], stride: u64, width: u32, height: u32, pitch: u32, strips: u32, columns: u32, first: u32, last: u32, rows: u32, full_tiles: u32, tail_rows: u32, scale: f32, measure: u32, parameter: f32, frame: u32, smoothing: u32, gradient: u32, gradient_radius: u32, window: u32, suppression_radius: u32, margin: u32, plateau: u32, threshold_kind: u32, threshold_value: f32, trace_factor: f32, first_tile: u32, tiles: u32, capacity: u32, counters_start: u32, counters: u32, finds_range: u32, mask: [u8], mask_pitch: u32, tap0: f32, tap1: f32, tap2: f32, tap3: f32);)*
        }
    };
}

/// Calls a macro with the arguments that follow in brackets, and the table of fused kernels.
///
/// ```text
/// name [blocks that a multiprocessor must hold: finding corners, writing responses;
///     cells of shared memory]
///     type of a sample: input, weights and radius of the window, greatest suppression radius;
/// ```
#[macro_export]
macro_rules! for_each_fused {
    ([$($apply:tt)*] $($before:tt)*) => {
        $($apply)*! { $($before)*
            u8_box3 [16, 16, 0] u8: GrayU8, Box, 1, 2;
            u8_box5 [16, 16, 320] u8: GrayU8, Box, 2, 2;
            u8_box7 [16, 16, 448] u8: GrayU8, Box, 3, 2;
            u8_box21 [16, 16, 1584] u8: GrayU8, VariableBox, 10, 2;
            u8_box31 [12, 12, 2224] u8: GrayU8, VariableBox, 15, 2;
            u8_binomial3 [16, 16, 0] u8: GrayU8, Binomial, 1, 2;
            u8_binomial5 [12, 16, 0] u8: GrayU8, Binomial, 2, 2;
            u8_binomial7 [8, 12, 0] u8: GrayU8, Binomial, 3, 2;
            u8_gaussian3 [12, 16, 0] u8: GrayU8, Gaussian, 1, 2;
            u8_gaussian5 [8, 12, 0] u8: GrayU8, Gaussian, 2, 2;
            u8_gaussian7 [8, 8, 0] u8: GrayU8, Gaussian, 3, 2;
            u16_box3 [8, 12, 0] u16: GrayU16, Box, 1, 2;
            u16_box5 [8, 12, 0] u16: GrayU16, Box, 2, 2;
            u16_box7 [8, 8, 0] u16: GrayU16, Box, 3, 2;
            f32_box3 [12, 16, 0] f32: GrayF32, Box, 1, 2;
            f32_box5 [8, 12, 0] f32: GrayF32, Box, 2, 2;
            f32_box7 [8, 8, 0] f32: GrayF32, Box, 3, 2;
            rgb_box3 [8, 8, 0] u8: RgbU8, Box, 1, 2;
            rgb_box5 [8, 8, 0] u8: RgbU8, Box, 2, 2;
            rgb_box7 [8, 8, 0] u8: RgbU8, Box, 3, 2;
            box_gradient_box9 [12, 16, 1128] u8: GrayU8BoxGradient, VariableBox, 4, 4;
            responses [16, 16, 0] f32: ResponseMap, Box, 0, 4;
        }
    };
}
