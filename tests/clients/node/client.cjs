// OpenAI's SDK for Node.js, with its default retries. A line of JSON in, a line out, until the input ends.
"use strict";

const readline = require("node:readline");
const OpenAI = require("openai");

async function ask(told) {
  const options = told.client ? { maxRetries: told.client.max_retries, timeout: told.client.timeout * 1000 } : {};
  const client = new OpenAI({ baseURL: told.base_url, apiKey: told.token, ...options });
  if (told.do === "models") {
    const models = [];
    for await (const model of client.models.list()) models.push(model.id);
    return { models };
  }
  // Fields that the SDK does not know go beside the others.
  const { data, response } = await client.chat.completions
    .create(
      { model: told.model, messages: told.messages, ...told.options, ...told.extra },
      { headers: { "Idempotency-Key": told.key } },
    )
    .withResponse();
  const choice = data.choices[0];
  const calls = (choice.message.tool_calls ?? []).map((call) => ({
    id: call.id,
    name: call.function.name,
    arguments: JSON.parse(call.function.arguments),
  }));
  const replayed = response.headers.get("Idempotent-Replayed") === "true";
  return { content: choice.message.content, calls, replayed, finish: choice.finish_reason };
}

async function answer(told) {
  try {
    return await ask(told);
  } catch (error) {
    if (!(error instanceof OpenAI.APIError)) throw error;
    return { classes: [error.constructor.name], status: error.status ?? null, code: error.code ?? null };
  }
}

(async () => {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await answer(JSON.parse(line))));
  }
})();
