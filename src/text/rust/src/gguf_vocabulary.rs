//! What a GGUF file says of its tokenizer.

pub const KIND_NORMAL: i32 = 1;
pub const KIND_UNKNOWN: i32 = 2;
pub const KIND_CONTROL: i32 = 3;
pub const KIND_USER_DEFINED: i32 = 4;
pub const KIND_BYTE: i32 = 6;

pub struct GgufVocabulary<'a> {
    pub model: &'a str,
    pub pre: &'a str,
    pub pieces: Vec<&'a str>,
    pub scores: &'a [f32], // empty or one per piece
    pub kinds: &'a [i32],  // empty or one per piece
    pub merges: Vec<&'a str>,
    pub add_space_prefix: bool,
    pub unknown_id: Option<u32>,
    pub vocabulary: u32,
    pub piece_work_max: u64,
    pub merge_count_max: u64,
}

impl GgufVocabulary<'_> {
    pub fn kind(&self, id: usize) -> i32 {
        self.kinds.get(id).copied().unwrap_or(KIND_NORMAL)
    }

    pub fn is_normal(&self, id: usize) -> bool {
        self.kind(id) == KIND_NORMAL
    }
}
