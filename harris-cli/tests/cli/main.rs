//! The program `harris`, run as a user runs it. One test program has all these tests, since each takes
//! long to link.

mod arguments;
mod configuration;
mod detect;
mod detect_many;
mod detect_resume;
mod inputs;
mod inputs_damaged;
mod inputs_limits;
mod matching;
mod outputs;
mod outputs_interrupted;
mod outputs_standard;
mod program;
mod reproduce;
mod score;
mod stream;
mod track;
mod video;
