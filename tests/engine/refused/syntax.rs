pub struct Half {
    pub x: u8
    pub y: u8,
}
