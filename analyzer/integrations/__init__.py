"""The runtime inside servers: its events as the streams of the two usual APIs, and adapters for servers' parser plug-ins.

    analyzer.integrations.openai       `chat.completion.chunk` and `chat.completion`
    analyzer.integrations.anthropic    content-block events and messages
    analyzer.integrations.vllm         what a file of `analyzer export --to vllm-plugin` registers
    analyzer.integrations.sglang       what a file of `analyzer export --to sglang-plugin` registers

Nothing here needs a client package; a server's own package is imported by its adapter alone. See docs/servers.md.
"""
