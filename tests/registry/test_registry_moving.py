"""Names that come to mean something else, and names of models that only look so."""

import pytest

from adapters.registry.moving import is_moving


@pytest.mark.parametrize(
    "name",
    ["latest", "Main", "main-branch", "nightly-build", "small:latest", "claude-3-5-sonnet-latest",
     "mistral-large-latest",
     "chatgpt-4o-latest", "org/model@main", "refs/heads/master", "v1.nightly", "model_latest", "latest-2026-01-01",
     "gpt-4-turbo-preview", "stable", "dev", "stable-release", "edge-build", "model@dev", "v2-stable",
     "vllm-0.9.1+nightly"],
)  # fmt: skip
def test_a_name_that_moves(name: str) -> None:
    assert is_moving(name)


@pytest.mark.parametrize(
    "name",
    ["gpt-4.1-mini-2025-04-14", "gpt-4-0125-preview", "o1-preview-2024-09-12", "gpt-4o-audio-preview-2024-12-17",
     "claude-haiku-4-5-20251001", "gemini-2.5-flash-preview-05-20", "gemini-1.5-pro-002", "mistral-medium-2508",
     "mistralai/Mixtral-8x7B-Instruct-v0.1", "meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen2.5-72B-Instruct-AWQ",
     "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "microsoft/Phi-3-mini-128k-instruct", "google/gemma-2-2b-it",
     "stabilityai/stable-code-3b", "stabilityai/stablelm-2-1_6b-chat", "nvidia/canary-1b",
     "black-forest-labs/FLUX.1-dev", "HuggingFaceTB/SmolLM2-135M-Instruct", "tiiuae/falcon-7b", "01-ai/Yi-34B-Chat",
     "anthropic.claude-3-haiku-20240307-v1:0", "smollm2-135m@q4_1", "2026.10.11549", "0.9.1.dev123",
     "12fd25f77366fa6b3b4b768ec3050bf629380bac", "domain-mainstream-7b"],
)  # fmt: skip
def test_a_name_that_does_not(name: str) -> None:
    assert not is_moving(name)
