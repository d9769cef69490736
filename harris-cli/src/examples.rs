//! Examples for the help of each subcommand, and the words of OpenCV.

/// The examples of `detect`, as a literal for `concat!`.
macro_rules! detect_examples {
    () => {
        "\
Examples:
  harris detect photo.jpg --overlay corners.png
  harris detect photo.jpg --csv - --max-corners 500 --min-distance 10
  harris detect photographs --table corners.csv --resume
  harris detect photo.jpg --detector fast-hessian --csv blobs.csv"
    };
}

pub(crate) const DETECT: &str = detect_examples!();

pub(crate) const DETECT_WITH_OPENCV: &str = concat!(
    detect_examples!(),
    "

For users of OpenCV:
  Start from --preset opencv_gftt, which computes what goodFeaturesToTrack does with
  useHarrisDetector=True and blockSize=3. Its parameters are these options:

  maxCorners=N                    --max-corners N
  qualityLevel=Q                  --threshold relative:Q
  minDistance=D                   --min-distance D
  mask=M                          --mask FILE
  blockSize=N                     --window box:N
  gradientSize=3, 5 or 7          --gradient sobel3, sobel5 or sobel7
  useHarrisDetector=True, k=K     --measure harris:K
  useHarrisDetector=False         --measure shi-tomasi

  Decoders of JPEG files round differently. So a few corners of a JPEG, above all of a colour one,
  may differ from those of the image that cv2.imread returns."
);

pub(crate) const STREAM: &str = "\
Examples:
  ffmpeg -i video.mp4 -pix_fmt gray -f yuv4mpegpipe - | harris stream -
  harris stream video.y4m --table corners.csv
  harris stream frames --rate 30 --overlay drawn";

pub(crate) const MATCH: &str = "\
Examples:
  harris match object.png scene.jpg --detector fast-hessian --out matches.png
  harris match object.png scenes --pairs pairs --json
  harris match object.png scene.jpg --sizes 128,256,512";

pub(crate) const TRACK: &str = "\
Examples:
  harris track object.png video.y4m --out tracked.y4m --table places.csv
  ffmpeg -i video.mp4 -f yuv4mpegpipe - | harris track object.png - --out - | ffmpeg -i - tracked.mp4
  harris track object.png frames --detector fast-hessian --overlay drawn";

pub(crate) const SCORE: &str = "\
Examples:
  harris score board.png --truth corners.csv --picture hits.png
  harris score photographs --truth truth --tolerance 2 --csv scores.csv
  harris score photographs --truth truth.csv --keypoints found.csv";

pub(crate) const BENCH: &str = "\
Examples:
  harris bench --threads 1
  harris bench --sizes 1920x1080 --window gaussian:7:1.5 --json
  harris bench --decode photographs";

pub(crate) const REPRODUCE: &str = "\
Examples:
  harris reproduce all --out results
  harris reproduce quality --largest 512 --seconds 0.01";

pub(crate) const COMPLETIONS: &str = "\
Examples:
  harris completions bash > /etc/bash_completion.d/harris
  harris completions zsh > ~/.zfunc/_harris";

pub(crate) const MAN: &str = "\
Examples:
  harris man /usr/local/share/man/man1
  mkdir pages && harris man pages && man pages/harris-detect.1";
