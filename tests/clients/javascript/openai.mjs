// The official openai package against the server at argv[2]: each check by name, "ok" or what was wrong, as JSON.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";

const [, , url, folder] = process.argv;
// The package lives in a build folder, not beside this file.
const require = createRequire(pathToFileURL(folder + "/here.cjs"));
const { default: OpenAI, BadRequestError, NotFoundError } = await import(pathToFileURL(require.resolve("openai")).href);

const client = new OpenAI({ baseURL: url, apiKey: "none", maxRetries: 0 });
const messages = [{ role: "user", content: "Why is the sky blue?" }];
const fields = { model: "smol", messages, max_tokens: 24, temperature: 0.8, seed: 7, logprobs: true, top_logprobs: 2 };

const checks = {
  async the_same_seed_gives_the_same_answer() {
    const first = await client.chat.completions.create({ ...fields, return_token_ids: true });
    const again = await client.chat.completions.create({ ...fields, return_token_ids: true });
    assert.equal(first.usage.completion_tokens, 24);
    assert.equal(first.choices[0].token_ids.length, 24);
    assert.deepEqual(again.choices, first.choices);
    assert.deepEqual(again.reproducibility, first.reproducibility);
    const other = await client.chat.completions.create({ ...fields, seed: 8 });
    assert.notEqual(other.choices[0].message.content, first.choices[0].message.content);
  },
  async a_stream_is_the_whole_answer() {
    const whole = await client.chat.completions.create(fields);
    let text = "", tokens = [], usage = null;
    for await (const chunk of await client.chat.completions.create({ ...fields, stream: true, stream_options: { include_usage: true } })) {
      assert.equal(chunk.system_fingerprint, whole.system_fingerprint);
      usage = chunk.usage ?? usage;
      for (const choice of chunk.choices) {
        text += choice.delta.content ?? "";
        tokens.push(...(choice.logprobs?.content ?? []));
      }
    }
    assert.equal(text, whole.choices[0].message.content);
    assert.deepEqual(tokens, whole.choices[0].logprobs.content);
    assert.deepEqual(usage, whole.usage);
  },
  async the_stream_helper_puts_the_answer_together() {
    const stop = { model: "smol", messages, max_tokens: 300, stop: "." };
    const whole = await client.chat.completions.create(stop);
    const final = await client.chat.completions.stream(stop).finalChatCompletion();
    assert.equal(whole.choices[0].finish_reason, "stop");
    assert.equal(final.choices[0].message.content, whole.choices[0].message.content);
  },
  async many_at_once_equal_one_alone() {
    const greedy = { model: "smol", messages, max_tokens: 24 };
    const alone = (await client.chat.completions.create(greedy)).choices[0].message.content;
    const many = await Promise.all(Array.from({ length: 16 }, () => client.chat.completions.create(greedy)));
    for (const one of many) assert.equal(one.choices[0].message.content, alone);
  },
  async samples_are_numbered_and_repeat() {
    const four = { ...fields, n: 4 };
    const first = await client.chat.completions.create(four);
    assert.deepEqual(first.choices.map((choice) => choice.index), [0, 1, 2, 3]);
    assert.ok(new Set(first.choices.map((choice) => choice.message.content)).size > 1);
    assert.deepEqual((await client.chat.completions.create(four)).choices, first.choices);
  },
  async completions_score_a_prompt() {
    const answer = await client.completions.create({ model: "smol", prompt: "Once upon a time", echo: true, logprobs: 1, max_tokens: 1 });
    assert.equal(answer.choices[0].logprobs.token_logprobs[0], null);
    assert.ok(answer.choices[0].logprobs.token_logprobs.slice(1).every((value) => value < 0));
  },
  async models_are_listed() {
    const names = [];
    for await (const model of client.models.list()) names.push(model.id);
    assert.deepEqual(names, ["smol"]);
  },
  async errors_become_its_exceptions() {
    const refused = (change) => client.chat.completions.create({ model: "smol", messages, max_tokens: 1, ...change });
    await assert.rejects(refused({ temperature: 1 }), (error) => error instanceof BadRequestError && error.code === "seed_required");
    await assert.rejects(refused({ model: "gpt-4" }), (error) => error instanceof NotFoundError && error.param === "model");
  },
};

const said = {};
for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
    said[name] = "ok";
  } catch (error) {
    said[name] = String(error.stack ?? error).slice(0, 2000);
  }
}
console.log(JSON.stringify(said));
