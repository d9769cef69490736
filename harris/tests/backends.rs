//! Every backend of the machine returns the reference's results.

use harris::fast_hessian::FastHessianConfig;
use harris::matching::MatchConfig;
use harris::surf::SurfConfig;
use harris::{Backend, HarrisConfig};
use harris_conformance::pictures::{Depth, Picture, noise};

#[test]
fn all_available_backends_equal_the_reference() {
    let picture = Picture::draw(Depth::U8, (301, 222, 1), |x, y, c| noise(7, x / 4, y / 4, c));
    let image = picture.view();
    let results = |backend| {
        let corners = harris::detector(backend, HarrisConfig::default()).unwrap().detect(&image).unwrap();
        let blobs = harris::fast_hessian(backend, FastHessianConfig::default()).unwrap();
        let blobs = { blobs }.detect(&image).unwrap();
        let descriptors =
            harris::surf(backend, SurfConfig::default()).unwrap().extract(&image, &blobs).unwrap();
        let matches = harris::matcher(backend, MatchConfig::nearest())
            .unwrap()
            .matches(descriptors.view(), descriptors.view())
            .unwrap();
        (corners, blobs, descriptors, matches)
    };
    let expected = results(Backend::Reference);
    assert!(expected.0.len() > 100 && expected.1.len() > 10 && expected.3.len() > 10);
    assert_eq!(results(Backend::Auto), expected);
    for available in Backend::available() {
        if available.is_available() {
            assert_eq!(results(available.backend), expected, "{}", available.backend);
        } else {
            let error = harris::detector(available.backend, HarrisConfig::default()).err().unwrap();
            assert_eq!(error.to_string(), available.status.unwrap_err().to_string());
        }
    }
}
