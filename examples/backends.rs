//! Lists the backends of this machine and chooses one at run time. The code after the choice is
//! the same for all, and so are the corners.
//!
//! ```sh
//! cargo run --release --example backends
//! ```

use std::error::Error;

use harris::{Backend, HarrisConfig, ImageView};

fn main() -> Result<(), Box<dyn Error>> {
    let photograph = image::open("examples/data/camera.png")?.to_luma8();
    let image = ImageView::try_from(&photograph)?;

    for available in Backend::available() {
        match available.status {
            Ok(description) => println!("{description}"),
            Err(reason) => println!("{}: not here, {reason}", available.backend),
        }
    }

    // The first usable GPU, else the CPU.
    let mut fastest = harris::detector(Backend::Auto, HarrisConfig::default())?;
    // A backend can also be read from text, as from a program's arguments.
    let mut reference = harris::detector("reference".parse()?, HarrisConfig::default())?;
    let corners = fastest.detect(&image)?;
    assert_eq!(corners, reference.detect(&image)?, "equal to the last bit");
    println!("chosen: {}", fastest.describe());
    println!("{} corners, equal to the reference's", corners.len());
    Ok(())
}
