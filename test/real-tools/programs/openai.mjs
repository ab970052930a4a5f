import OpenAI from "openai";

const response = await new OpenAI().responses.create({ model: "gpt-5.5", input: "hello" });
console.log(response.output_text);
