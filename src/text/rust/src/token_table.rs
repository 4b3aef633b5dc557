//! For each id its piece, its bytes and whether it is a control token: two text columns with end offsets.

use crate::failure::{fail, Code, Outcome};

#[derive(Default)]
pub struct TokenTable {
    pub pieces: Vec<u8>,
    pub piece_ends: Vec<u32>,
    pub bytes: Vec<u8>,
    pub byte_ends: Vec<u32>,
    pub control: Vec<u8>,
}

impl TokenTable {
    /// Appends the next id.
    pub fn push(&mut self, piece: &str, bytes: &[u8], control: bool) -> Outcome<()> {
        self.pieces.extend_from_slice(piece.as_bytes());
        self.bytes.extend_from_slice(bytes);
        if self.pieces.len() > u32::MAX as usize || self.bytes.len() > u32::MAX as usize {
            return fail(Code::TooLarge, "the pieces together are longer than 4 GiB");
        }
        self.piece_ends.push(self.pieces.len() as u32);
        self.byte_ends.push(self.bytes.len() as u32);
        self.control.push(control as u8);
        Ok(())
    }

    /// Fills the ids that have no piece (holes, embedding rows beyond the vocabulary).
    pub fn pad_to(&mut self, count: u32) {
        self.piece_ends.resize(count as usize, self.pieces.len() as u32);
        self.byte_ends.resize(count as usize, self.bytes.len() as u32);
        self.control.resize(count as usize, 0);
    }
}
