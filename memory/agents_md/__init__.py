"""AGENTS.md: what people write for their agents, and what agents may add once a person agrees.

It serves any agent of LangChain; here the file is in the state of the thread:

    from langchain.agents import create_agent

    from memory.agents_md.file_sources import state_sources
    from memory.agents_md.memory import AgentsMdMemory
    from memory.middleware import MemoryMiddleware
    from tools.toolbox import FilesState, edit_memory_tool

    sources = state_sources("/AGENTS.md")
    agent = create_agent(
        "openai:gpt-4o",
        tools=[edit_memory_tool("ann/", sources)],
        middleware=[MemoryMiddleware("ann/", memories=[AgentsMdMemory(sources)])],
        state_schema=FilesState,
    )
    said = {"messages": [("user", "How far is it to the sun?")], "files": {"/AGENTS.md": "In km."}}
    print(agent.invoke(said)["messages"][-1].text)
"""
