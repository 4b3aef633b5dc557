// Every bound on input from strangers, with its reason. All of them stand here.
#pragma once

#include <cstdint>

namespace samebit::limits {

// GGUF: the largest published vocabularies hold about 260,000 pieces and 520,000 merges.
inline constexpr uint64_t kGgufMetadataCountMax = 1 << 16;
inline constexpr uint64_t kGgufArrayCountMax = 1 << 22;
inline constexpr uint64_t kGgufStringBytesMax = 1 << 24;  // chat templates reach 20 kB; 16 MiB leaves room
inline constexpr uint64_t kGgufArrayDepthMax = 4;
inline constexpr uint64_t kTensorCountMax = 1 << 16;
inline constexpr uint32_t kTensorRankMax = 4;
inline constexpr uint64_t kTensorElementsMax = 1ull << 40;
inline constexpr uint64_t kSafetensorsHeaderBytesMax = 100ull << 20;  // the format's own limit
inline constexpr uint32_t kShardCountMax = 1024;  // files of one model; the largest published ones have under 200
inline constexpr uint64_t kJsonFileBytesMax = 256ull << 20;           // a tokenizer.json of 34 MB is the largest met
inline constexpr uint32_t kJsonDepthMax = 64;
// Values that are built in memory (16 bytes or more each): a header of 65,536 tensors has about 600,000.
inline constexpr uint64_t kJsonValuesMax = 1 << 22;

// Model shapes. Above these a size computation could leave 64 bits or a stack array its place.
inline constexpr uint32_t kLayersMax = 1024;
inline constexpr uint32_t kWidthMax = 1 << 18;
inline constexpr uint32_t kHeadSizeMax = 512;
inline constexpr uint32_t kHeadsMax = 1024;
inline constexpr uint32_t kVocabularyMax = 1 << 21;
inline constexpr uint32_t kContextMax = 1 << 20;  // RoPE's argument reduction is exact up to 2^20 quarter turns
inline constexpr uint32_t kTokenTypesMax = 64;    // BERT has 2; a row of the width each

// Text.
inline constexpr uint64_t kPromptBytesMax = 16ull << 20;
inline constexpr uint64_t kTemplateBytesMax = 1ull << 18;  // the longest published templates have about 20 kB
inline constexpr uint64_t kTemplateOutputBytesMax = 32ull << 20;
// Fuel of a chat template: an instruction, or 64 bytes of text that it makes, costs one unit. Published templates need
// a few hundred for each message. The bound is low because some operations of the interpreter take time in proportion
// to what was done before (a slice of a slice of a slice), and because its stack is sized by the fuel
// (text/rust/src/template.rs).
inline constexpr uint64_t kTemplateFuel = 50'000;
// Memory of a template while it runs: fuel pays for 64 bytes of text after they were made, growing strings take twice
// that and are copied, and one operation on a value that holds itself many times over is not paid for before it ends.
inline constexpr uint64_t kTemplateMemoryBytes = 16ull << 20;
inline constexpr uint64_t kTemplateMemoryBytesPerFuel = 256;
// Allocations: comparing such values makes one or more for every list that is entered, and fuel does not see it. An
// instruction makes a few.
inline constexpr uint64_t kTemplateAllocations = 1 << 18;
inline constexpr uint64_t kTemplateAllocationsPerFuel = 64;
// Comparing lists that hold long lists many times over takes time and nothing else. A real template takes milliseconds;
// this ends the others, and nothing else depends on it.
inline constexpr uint64_t kTemplateSecondsMax = 10;
inline constexpr uint64_t kTemplateFuelPerMessage = 500;
inline constexpr uint64_t kTemplateBytesPerFuel = 8;  // of messages and variables: each byte may be copied eight times
inline constexpr uint64_t kMessagesMax = 1 << 14;  // a template's stack grows with its fuel: to 4 GiB of addresses
// Sum of the squared lengths of a SentencePiece vocabulary's pieces: the work of finding its merges. Gemma 3's is
// under 2^25.
inline constexpr uint64_t kPieceSquaresMax = 1ull << 32;

// Grammars. Counts of llguidance, which bounds its own work by them; a schema of OpenAI's largest size (5000 properties)
// has 200,000 items. A mask that reaches the step's bounds would take 20 ms and more, for each token.
inline constexpr uint64_t kSchemaBytesMax = 512 << 10;
inline constexpr uint64_t kGrammarItemsMax = 300'000;
inline constexpr uint64_t kGrammarBuildFuel = 1'000'000;
inline constexpr uint64_t kGrammarStepFuel = 200'000;
inline constexpr uint64_t kGrammarStepItemsMax = 50'000;
inline constexpr uint64_t kGrammarRowItemsMax = 2'000;
// States of the lexer that one answer's tokens may make, 1 to 2 kB each: 64 answers at once stay under 2 GB at worst.
inline constexpr uint64_t kGrammarLexerStatesMax = 16'384;
inline constexpr uint32_t kAttemptsMax = 9;  // samebit_retries: 0..8, and the first
inline constexpr uint32_t kToolsMax = 128;   // OpenAI's own bound

// Requests.
inline constexpr uint32_t kStopStringsMax = 64;
inline constexpr uint32_t kStopStringBytesMax = 4096;
inline constexpr uint32_t kLogitBiasEntriesMax = 1 << 16;
inline constexpr uint32_t kTopLogprobsMax = 64;
inline constexpr uint32_t kSamplesMax = 256;    // n
inline constexpr uint32_t kBeamWidthMax = 64;
inline constexpr uint32_t kEmbeddingInputsMax = 2048;  // texts of one embeddings request, as OpenAI has it
inline constexpr uint32_t kRequestPromptsMax = 1024;  // prompts of one HTTP request; harnesses send batches of 1 to 512

// Prompt templates (samebit prompt, serve --prompts). A file is read by people: the longest in use, with fifty examples,
// has under 60 kB.
inline constexpr uint64_t kPromptTemplateBytesMax = 256 << 10;
inline constexpr uint32_t kPromptTemplatesMax = 1000;     // of one server
inline constexpr uint32_t kPromptVariablesMax = 64;       // they are looked for one after the other
inline constexpr uint32_t kPromptExamplesMax = 256;
inline constexpr uint32_t kPromptChoicesMax = 256;        // of an enum, an answer or an object's keys
inline constexpr uint32_t kPromptNameBytesMax = 64;       // stands in messages and paths
inline constexpr uint32_t kPromptTextCharactersMax = 1 << 20;  // max_length of a string
// YAML. Such a file nests four deep and has ten values an example; aliases, which multiply, are refused.
inline constexpr uint32_t kYamlDepthMax = 16;
inline constexpr uint32_t kYamlNodesMax = 20'000;

// Replay's prompt sets. A line may hold a prompt of the size above; a set is run many times, so it stays small.
inline constexpr uint64_t kPromptFileBytesMax = 256ull << 20;
inline constexpr uint32_t kPromptsMax = 10'000;
inline constexpr uint32_t kPromptIdBytesMax = 128;     // stands in every table row
inline constexpr uint32_t kPromptMessagesMax = 1024;
// Values of a job for a restarted process, or of its answer: 10,000 prompts of a thousand tokens, 20 values each.
inline constexpr uint64_t kChildValuesMax = 1 << 28;

// HTTP. A connection costs a descriptor and about 20 kB; 1024 descriptors are the default of most systems, and the model
// and its log need some of them.
inline constexpr uint32_t kConnectionsMax = 900;
inline constexpr uint32_t kHeaderBytesMax = 16 << 10;    // clients send under 2 kB; a token of an identity provider, 8
inline constexpr uint64_t kBodyBytesMax = 8ull << 20;    // a million tokens as text or as ids
inline constexpr uint32_t kHeaderSeconds = 10;           // from its first byte: a trickle must not hold a connection
inline constexpr uint32_t kBodySeconds = 60;             // 8 MiB over a slow line
inline constexpr uint32_t kIdleSeconds = 75;             // longer than the 60 that clients keep a connection for
inline constexpr uint32_t kWriteStallSeconds = 30;       // without one byte taken
inline constexpr uint64_t kStreamBacklogBytesMax = 4ull << 20;  // unsent bytes of a stream: hours of tokens, not of memory
// POST /tokenize takes no notice of the model's context, and works on the thread that prepares all requests. On one core (Zen 4)
// 1 MiB took 0.04 to 1.4 s and up to 150 MiB of memory, 8 MiB of digits 13 s and 1.2 GiB.
// A model whose context holds more text than that may be asked more, by so many bytes for each of its tokens.
inline constexpr uint64_t kTokenizeBytesMax = 1 << 20;
inline constexpr uint64_t kTokenizeBytesPerToken = 8;
inline constexpr uint32_t kQueuedAnswersMax = 512;       // beyond those that run: minutes of work for a small machine
// From the request to the first byte of its answer, waiting and computing together: what OpenAI's own clients wait for.
inline constexpr uint32_t kFirstByteSeconds = 600;
inline constexpr uint64_t kTlsFileBytesMax = 1 << 20;    // a chain of certificates has a few kB
inline constexpr uint32_t kHandshakeSeconds = 10;        // two round trips, over a slow line
inline constexpr uint64_t kLoggedBodyBytesMax = 64 << 10;  // of a request's body with --log-prompts; one line of the log
inline constexpr uint32_t kRequestIdBytesMax = 128;      // X-Request-Id, as it is echoed and logged

// The configuration file: a few dozen lines. Its parser calls itself for each level, so depth is bounded by its own guard.
inline constexpr uint64_t kConfigFileBytesMax = 64 << 10;
// HTTP, as a client: what a server may send us. An answer of 1,024 tokens with five candidates each has about 1 MB.
inline constexpr uint64_t kAnswerBytesMax = 64ull << 20;
inline constexpr uint64_t kSseEventBytesMax = 8ull << 20;  // the first chunk may hold a whole prompt's ids
inline constexpr uint32_t kConnectSeconds = 10;
inline constexpr uint32_t kServerStallSeconds = 300;       // a long prompt on a slow machine sends nothing for minutes

// A process. More workers than this only wait for each other.
inline constexpr uint32_t kThreadsMax = 256;

}  // namespace samebit::limits
