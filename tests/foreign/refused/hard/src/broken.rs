pub struct Broken {
