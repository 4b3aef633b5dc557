// Every field counts: changed once, the fingerprint changes and the difference is named.
#include "contract/fingerprint.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace samebit::contract {
namespace {

struct Document {
  SemanticPart semantic;
  NumericPart numeric;
  DeploymentPart deployment;
};

// Every optional field is present.
Document Full() {
  Document d;
  d.semantic = {"m", "t", "c", "p", "f32", "Q4_1", "a", {0.5f, 1, 0.9f, 0.1f, 1.1f, 0.2f, 0.3f, {{7, 1.5f}}, 2, 9},
                "r", 16, 1, {"END"}, {2}};
  d.numeric = {"samebit-arith/1", "f16", "leaf", "tree", true, "s"};
  d.deployment = {"samebit", "0.1", "abc", "g++", "-O2", {{"boost", "1.81"}}, "cpu", "avx2", "gpu",
                  2, 1, 256, 64, 64, true, "sha256:i", "v1"};
  return d;
}

Fingerprint Of(const Document& d) { return MakeFingerprint(d.semantic, FixedParts(d.numeric, d.deployment)); }

struct Mutation {
  const char* field;
  std::function<void(Document&)> change;
};

const std::vector<Mutation>& Mutations() {
  static const std::vector<Mutation> mutations = {
      {"semantic.model_sha256", [](Document& d) { d.semantic.model_sha256 += "x"; }},
      {"semantic.tokenizer_sha256", [](Document& d) { d.semantic.tokenizer_sha256 += "x"; }},
      {"semantic.chat_template_sha256", [](Document& d) { d.semantic.chat_template_sha256 = ""; }},
      {"semantic.prompt_template_sha256", [](Document& d) { d.semantic.prompt_template_sha256 += "x"; }},
      {"semantic.dtype", [](Document& d) { d.semantic.dtype += "x"; }},
      {"semantic.quantization", [](Document& d) { d.semantic.quantization += "x"; }},
      {"semantic.adapter_sha256", [](Document& d) { d.semantic.adapter_sha256 += "x"; }},
      {"semantic.response_format_sha256", [](Document& d) { d.semantic.response_format_sha256 += "x"; }},
      {"semantic.max_tokens", [](Document& d) { ++d.semantic.max_tokens; }},
      {"semantic.min_tokens", [](Document& d) { ++d.semantic.min_tokens; }},
      {"semantic.stop", [](Document& d) { d.semantic.stop.push_back("x"); }},
      {"semantic.stop_token_ids", [](Document& d) { d.semantic.stop_token_ids.push_back(3); }},
      {"semantic.sampling.temperature", [](Document& d) { d.semantic.sampling.temperature = 0.50000006f; }},
      {"semantic.sampling.top_k", [](Document& d) { ++d.semantic.sampling.top_k; }},
      {"semantic.sampling.top_p", [](Document& d) { d.semantic.sampling.top_p = 1; }},
      {"semantic.sampling.min_p", [](Document& d) { d.semantic.sampling.min_p = 0; }},
      {"semantic.sampling.repetition_penalty", [](Document& d) { d.semantic.sampling.repetition_penalty = 1; }},
      {"semantic.sampling.presence_penalty", [](Document& d) { d.semantic.sampling.presence_penalty = 0; }},
      {"semantic.sampling.frequency_penalty", [](Document& d) { d.semantic.sampling.frequency_penalty = 0; }},
      {"semantic.sampling.logit_bias.7", [](Document& d) { d.semantic.sampling.logit_bias[0].second = -1; }},
      {"semantic.sampling.beam_width", [](Document& d) { ++d.semantic.sampling.beam_width; }},
      {"semantic.sampling.seed", [](Document& d) { d.semantic.sampling.seed = UINT64_MAX; }},
      {"numeric.arithmetic", [](Document& d) { d.numeric.arithmetic += "x"; }},
      {"numeric.kv_cache_dtype", [](Document& d) { d.numeric.kv_cache_dtype = "f32"; }},
      {"numeric.reduction.leaf", [](Document& d) { d.numeric.reduction_leaf += "x"; }},
      {"numeric.reduction.tree", [](Document& d) { d.numeric.reduction_tree += "x"; }},
      {"numeric.batch_invariance", [](Document& d) { d.numeric.batch_invariance = false; }},
      {"numeric.self_test_sha256", [](Document& d) { d.numeric.self_test_sha256 += "x"; }},
      {"deployment.engine.name", [](Document& d) { d.deployment.engine_name += "x"; }},
      {"deployment.engine.version", [](Document& d) { d.deployment.engine_version += "x"; }},
      {"deployment.engine.commit", [](Document& d) { d.deployment.engine_commit += "x"; }},
      {"deployment.engine.compiler", [](Document& d) { d.deployment.engine_compiler += "x"; }},
      {"deployment.engine.flags", [](Document& d) { d.deployment.engine_flags += "x"; }},
      {"deployment.libraries.boost", [](Document& d) { d.deployment.libraries[0].second += "x"; }},
      {"deployment.hardware.cpu_model", [](Document& d) { d.deployment.cpu_model += "x"; }},
      {"deployment.hardware.isa", [](Document& d) { d.deployment.isa += "x"; }},
      {"deployment.hardware.gpu_model", [](Document& d) { d.deployment.gpu_model = ""; }},
      {"deployment.hardware.threads", [](Document& d) { ++d.deployment.threads; }},
      {"deployment.hardware.tensor_parallel_size", [](Document& d) { ++d.deployment.tensor_parallel_size; }},
      {"deployment.scheduler.chunked_prefill", [](Document& d) { ++d.deployment.chunked_prefill; }},
      {"deployment.scheduler.max_num_seqs", [](Document& d) { ++d.deployment.max_num_seqs; }},
      {"deployment.scheduler.kv_page_tokens", [](Document& d) { ++d.deployment.kv_page_tokens; }},
      {"deployment.scheduler.prefix_cache", [](Document& d) { d.deployment.prefix_cache = false; }},
      {"deployment.container_image_digest", [](Document& d) { d.deployment.container_image_digest += "x"; }},
      {"deployment.deployment_version", [](Document& d) { d.deployment.deployment_version += "x"; }},
  };
  return mutations;
}

TEST(Fingerprint, a_change_of_any_field_changes_it_and_is_named) {
  const Fingerprint base = Of(Full());
  std::set<std::string> seen = {base.inference_fingerprint};
  for (const Mutation& mutation : Mutations()) {
    Document changed = Full();
    mutation.change(changed);
    const Fingerprint fingerprint = Of(changed);
    EXPECT_TRUE(seen.insert(fingerprint.inference_fingerprint).second) << mutation.field;
    EXPECT_EQ(DifferingFields(base.document, fingerprint.document), std::vector<std::string>{mutation.field});
    const std::string part = std::string(mutation.field).substr(0, std::string(mutation.field).find('.'));
    EXPECT_EQ(part == "semantic", fingerprint.semantic_sha256 != base.semantic_sha256) << mutation.field;
    EXPECT_EQ(part == "numeric", fingerprint.numeric_sha256 != base.numeric_sha256) << mutation.field;
    EXPECT_EQ(part == "deployment", fingerprint.deployment_sha256 != base.deployment_sha256) << mutation.field;
  }
}

// A field that the document has and no mutation names would be one that nobody proved to count.
TEST(Fingerprint, every_leaf_of_the_document_has_its_mutation) {
  std::set<std::string> mutated;
  for (const Mutation& mutation : Mutations()) mutated.insert(mutation.field);
  const std::vector<std::string> leaves =
      DifferingFields(Of(Full()).document, R"({"semantic":{"sampling":{"logit_bias":{}}},"numeric":{"reduction":{}},)"
                                           R"("deployment":{"engine":{},"libraries":{},"hardware":{},"scheduler":{}}})");
  for (const std::string& leaf : leaves) {
    EXPECT_TRUE(leaf == "schema" || mutated.contains(leaf)) << leaf;
  }
  EXPECT_EQ(leaves.size(), mutated.size() + 1);
}

TEST(Fingerprint, of_a_text_vector_names_pooling_and_length_and_no_sampling) {
  Document d = Full();
  d.semantic.embedding = EmbeddingPart{"mean", true};
  const Fingerprint base = Of(d);
  EXPECT_NE(base.document.find(R"("embedding":{"normalized":true,"pooling":"mean"},"model_sha256":"m")"),
            std::string::npos);
  ++d.semantic.sampling.seed;
  EXPECT_EQ(Of(d).document, base.document);
  d.semantic.embedding->pooling = "last";
  EXPECT_EQ(DifferingFields(base.document, Of(d).document), std::vector<std::string>{"semantic.embedding.pooling"});
  d.semantic.embedding = EmbeddingPart{"mean", false};
  EXPECT_EQ(DifferingFields(base.document, Of(d).document), std::vector<std::string>{"semantic.embedding.normalized"});
}

TEST(Fingerprint, the_same_fields_give_the_same_document_and_no_difference) {
  EXPECT_EQ(Of(Full()).document, Of(Full()).document);
  EXPECT_TRUE(DifferingFields(Of(Full()).document, Of(Full()).document).empty());
}

// Frozen: whoever changes the form of the document raises its schema.
TEST(Fingerprint, has_the_frozen_form) {
  const Fingerprint fingerprint = Of(Full());
  EXPECT_EQ(fingerprint.document,
            R"({"deployment":{"container_image_digest":"sha256:i","deployment_version":"v1","engine":{"commit":"abc",)"
            R"("compiler":"g++","flags":"-O2","name":"samebit","version":"0.1"},"hardware":{"cpu_model":"cpu",)"
            R"("gpu_model":"gpu","isa":"avx2","tensor_parallel_size":1,"threads":2},"libraries":{"boost":"1.81"},)"
            R"("scheduler":{"chunked_prefill":256,"kv_page_tokens":64,"max_num_seqs":64,"prefix_cache":true}},)"
            R"("numeric":{"arithmetic":"samebit-arith/1","batch_invariance":true,"kv_cache_dtype":"f16",)"
            R"("reduction":{"leaf":"leaf","tree":"tree"},"self_test_sha256":"s"},"schema":"samebit.fingerprint/1",)"
            R"("semantic":{"adapter_sha256":"a","chat_template_sha256":"c","dtype":"f32","max_tokens":16,)"
            R"("min_tokens":1,"model_sha256":"m","prompt_template_sha256":"p","quantization":"Q4_1",)"
            R"("response_format_sha256":"r","sampling":{"beam_width":2,"frequency_penalty":"0.3",)"
            R"("logit_bias":{"7":"1.5"},"min_p":"0.1","presence_penalty":"0.2","repetition_penalty":"1.1","seed":"9",)"
            R"("temperature":"0.5","top_k":1,"top_p":"0.9"},"stop":["END"],"stop_token_ids":[2],)"
            R"("tokenizer_sha256":"t"}})");
  EXPECT_EQ(fingerprint.inference_fingerprint, "sha256:" + Sha256::Of(fingerprint.document).hex());
  EXPECT_EQ(SystemFingerprint("0.1.0", fingerprint),
            "samebit-0.1.0-" + Sha256::Of(fingerprint.document).hex().substr(0, 16));
}

TEST(CombineFileDigests, does_not_depend_on_the_order_and_hashes_the_bytes) {
  const Sha256Digest a = Sha256::Of("a"), b = Sha256::Of("b");
  const std::string both = CombineFileDigests({{"x", a}, {"y", b}});
  EXPECT_EQ(both, CombineFileDigests({{"y", b}, {"x", a}}));
  std::string bytes(a.bytes.begin(), a.bytes.end());
  bytes.append(b.bytes.begin(), b.bytes.end());
  EXPECT_EQ(both, Sha256::Of(bytes).hex());
  EXPECT_NE(both, CombineFileDigests({{"y", a}, {"x", b}}));
}

}  // namespace
}  // namespace samebit::contract
