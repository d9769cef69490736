//! Every kernel of the list, as the host runs it.

use crate::abi::Kernel;
use crate::simt::host::{Body, HostKernel};

impl HostKernel for Kernel {
    fn name(self) -> &'static str {
        self.name()
    }
    fn threads(self) -> u32 {
        self.threads()
    }
    fn cells(self) -> u32 {
        self.cells()
    }
    fn body(self) -> Body {
        self.host_body()
    }
}
