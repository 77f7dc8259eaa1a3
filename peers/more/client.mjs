// The same small client on one of several libraries for Node, for `cargo xtask peers --more`.
//
// `node client.mjs LIBRARY URL` lists the tools of a server over Streamable HTTP and calls `echo` where there is one, as the
// library's own documentation shows.
const [library, url] = process.argv.slice(2);
const words = { message: 'Good day' };

const libraries = {
    async 'ai-sdk'() {
        const { createMCPClient } = await import('@ai-sdk/mcp');
        const client = await createMCPClient({ transport: { type: 'http', url } });
        try {
            const { echo } = await client.tools();
            if (echo) console.log(JSON.stringify(await echo.execute(words, { toolCallId: 'c', messages: [] })));
        } finally {
            await client.close();
        }
    }
};

if (!libraries[library] || !url) {
    console.error(`usage: client.mjs ${Object.keys(libraries).join(' | ')} URL`);
    process.exit(2);
}
await libraries[library]();
