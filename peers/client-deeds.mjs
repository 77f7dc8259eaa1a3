// What the small clients on the TypeScript SDKs (`ts-sdk-client.mjs`, `ts-sdk1-client.mjs`) do in each scenario of
// `proof check-client`: the SDK's ordinary calls, as an application would make them. Each client hands in what its SDK
// calls differently; nothing here makes up for what an SDK does or fails to do.
//
// `node …-client.mjs ERA URL` speaks HTTP, `node …-client.mjs ERA COMMAND ARGS…` starts a server and speaks stdio. ERA is
// `auto`, `legacy` or `modern`, where the SDK lets one choose.

const scenario = process.env.PROOF_SCENARIO ?? 'interop';

// What is declared beside nothing at all; what nobody asks for is not declared.
const CAPABILITIES = {
    'elicitation-sep1034-client-defaults': { elicitation: { form: { applyDefaults: true } } },
    'sep-2322-client-request-state': { elicitation: { form: {} } },
    'hostile.endless-questions': { elicitation: { form: {} } },
    elicitation: { elicitation: { form: {} } },
    'elicitation-url': { elicitation: { url: {} } },
    roots: { roots: {} },
    crossing: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
    sampling: { sampling: {} },
    'sampling-with-tools': { sampling: { tools: {} } }
};

// Every page of a list. Where the SDK reads them all by itself, there is one.
async function all(client, verb, member) {
    const items = [];
    const seen = new Set();
    let cursor;
    do {
        const page = await client[verb](cursor === undefined ? undefined : { cursor });
        items.push(...page[member]);
        cursor = page.nextCursor;
        if (seen.has(cursor)) throw new Error(`${verb} goes in circles`);
        seen.add(cursor);
    } while (cursor !== undefined);
    return items;
}

const tools = (client) => all(client, 'listTools', 'tools');
const resources = (client) => all(client, 'listResources', 'resources');
const templates = (client) => all(client, 'listResourceTemplates', 'resourceTemplates');
const prompts = (client) => all(client, 'listPrompts', 'prompts');

// What the server may well refuse; an application says so and goes on.
async function attempt(what) {
    try {
        return await what();
    } catch (error) {
        console.error(`refused: ${error.message}`);
    }
}

async function waitFor(condition, limit = 5000) {
    for (const begun = Date.now(); !condition(); await new Promise((resolve) => setTimeout(resolve, 20))) {
        if (Date.now() - begun > limit) throw new Error('waited in vain');
    }
}

function value({ type, enum: choices, oneOf, minimum, format, items, default: preset }) {
    if (preset !== undefined) return preset;
    switch (type) {
        case 'boolean':
            return true;
        case 'integer':
        case 'number':
            return minimum ?? 1;
        case 'array':
            return [items.enum?.[0] ?? items.anyOf[0].const];
        default:
            if (choices ?? oneOf) return choices?.[0] ?? oneOf[0].const;
            return { email: 'ada@example.com', uri: 'https://example.com/', date: '1815-12-10' }[format] ?? 'Ada';
    }
}

// What a person would fill in: nothing where the SDK promised to fill in the defaults, and what is required otherwise.
function filled(params) {
    if (params.mode === 'url') return { action: 'accept' };
    const { properties, required = [] } = params.requestedSchema;
    const wanted = scenario === 'elicitation-sep1034-client-defaults' ? [] : required;
    return { action: 'accept', content: Object.fromEntries(wanted.map((name) => [name, value(properties[name])])) };
}

// What a model would say: it uses the tool that it is offered once, and then has an answer.
function completed({ messages, tools }) {
    const said = { role: 'assistant', model: 'none' };
    const content = messages.flatMap((message) => message.content);
    if (tools?.length > 0 && !content.some((block) => block.type === 'tool_result')) {
        const use = { type: 'tool_use', id: 'use-1', name: tools[0].name, input: { a: 17, b: 25 } };
        return { ...said, stopReason: 'toolUse', content: [use] };
    }
    return { ...said, stopReason: 'endTurn', content: { type: 'text', text: 'It is 42.' } };
}

function answering(client, { call, handle }) {
    const declared = CAPABILITIES[scenario] ?? {};
    if (declared.elicitation) {
        handle(client, 'elicitation/create', async ({ params }) => {
            if (scenario === 'sep-2322-client-request-state') await call(client, 'test_mrtr_unrelated', {});
            return filled(params);
        });
    }
    if (declared.sampling) handle(client, 'sampling/createMessage', async ({ params }) => completed(params));
    if (declared.roots) handle(client, 'roots/list', async () => ({ roots: [{ uri: 'file:///tmp', name: 'tmp' }] }));
}

async function readAll(client) {
    for (const { uri } of await resources(client)) await attempt(() => client.readResource({ uri }));
}

// The calls of `crossing`: every kind of content, errors, and questions to the client.
const CALLS = [
    ['echo', { message: 'Grüße, 世界, 😀' }],
    ['sum', { a: 2, b: 3.5 }],
    ['sum', { a: 'x' }],
    ['none', {}],
    ['fail', {}],
    ['get_image', {}],
    ['get_audio', {}],
    ['get_resource_link', {}],
    ['get_embedded_resource', {}],
    ['get_everything', {}],
    ['get_weather', { location: 'Bergen' }],
    ['ask', {}],
    ['ask_form', {}],
    ['ask_two', {}],
    ['ask_in_turn', {}],
    ['ask_url', {}],
    ['sample', {}],
    ['list_roots', {}]
];

// What is done in a scenario; whatever is not named here lists the tools and calls one.
const DEEDS = {
    initialize: (client) => tools(client),
    'request-metadata': (client) => tools(client),
    'json-schema-ref-no-deref': (client) => tools(client),
    'hostile.icons': (client) => tools(client),
    'hostile.endless-list': (client) => tools(client),
    'hostile.stdout-banner': (client) => tools(client),
    'hostile.lingers': (client) => tools(client),
    'hostile.unsupported-version': (client) => tools(client),
    'untyped-results': (client) => resources(client),
    tools_call: async (client, { call }) => {
        await tools(client);
        await call(client, 'add_numbers', { a: 5, b: 3 });
    },
    'elicitation-sep1034-client-defaults': (client, { call }) => call(client, 'test_client_elicitation_defaults', {}),
    'sse-retry': (client, { call }) => call(client, 'test_reconnection', {}),
    'sep-2322-client-request-state': async (client, { call }) => {
        for (const name of ['echo_state', 'no_state', 'no_result_type']) await call(client, `test_mrtr_${name}`, {});
    },
    'http-standard-headers': async (client, { call }) => {
        await tools(client);
        await call(client, 'test_headers', {});
        await call(client, 'my-hyphenated-tool', {});
        await readAll(client);
        await client.getPrompt({ name: 'test_prompt' });
    },
    'http-custom-headers': async (client, { call }) => {
        await tools(client);
        const { toolCalls } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT);
        for (const { name, arguments: args } of toolCalls) await call(client, name, args);
    },
    'http-invalid-tool-headers': async (client, { call }) => {
        await tools(client);
        await call(client, 'valid_tool', { region: 'eu' });
    },
    'json-schema-2020-12-preservation': async (client, { call }) => {
        const listed = (await tools(client)).find(({ name }) => name === 'json_schema_2020_12_tool');
        await call(client, 'json_schema_echo', { schema: listed.inputSchema });
    },
    lists: async (client) => {
        for (const list of [tools, resources, templates, prompts]) await list(client);
    },
    fail: (client, { call }) => call(client, 'fail', {}),
    resources: async (client) => {
        await readAll(client);
        for (const { uriTemplate } of await templates(client)) {
            await attempt(() => client.readResource({ uri: uriTemplate.replaceAll(/\{\w+\}/g, 'x') }));
        }
    },
    prompts: async (client) => {
        for (const { name, arguments: wanted = [] } of await prompts(client)) {
            const args = Object.fromEntries(wanted.map((one) => [one.name, 'x']));
            await attempt(() => client.getPrompt({ name, arguments: args }));
        }
    },
    completion: async (client) => {
        const prompt = (await prompts(client)).find((one) => one.arguments?.length > 0);
        const argument = { name: prompt.arguments.at(-1).name, value: '' };
        await client.complete({ ref: { type: 'ref/prompt', name: prompt.name }, argument });
        const { uriTemplate } = (await templates(client))[0];
        const variable = { name: uriTemplate.match(/\{(\w+)\}/)[1], value: '' };
        await client.complete({ ref: { type: 'ref/resource', uri: uriTemplate }, argument: variable });
    },
    content: async (client, { call }) => {
        const offered = (await tools(client)).filter(({ name }) => name.startsWith('get_') && name !== 'get_weather');
        for (const { name } of offered) await call(client, name, {});
    },
    logging: async (client, { call, handle, era }) => {
        const logged = [];
        handle(client, 'notifications/message', ({ params }) => logged.push(params));
        const _meta = era(client) === 'modern' ? { 'io.modelcontextprotocol/logLevel': 'info' } : undefined;
        if (!_meta) await client.setLoggingLevel('info');
        await call(client, 'log', {}, {}, _meta);
    },
    progress: (client, { call }) => call(client, 'slow', {}, { onprogress: () => {} }),
    cancellation: async (client, { call }) => {
        const giveUp = new AbortController();
        setTimeout(() => giveUp.abort('no longer wanted'), 500);
        await attempt(() => call(client, 'slow', { steps: 50 }, { signal: giveUp.signal }));
        await tools(client);
    },
    sampling: (client, { call }) => call(client, 'sample', {}),
    'sampling-with-tools': (client, { call }) => call(client, 'sample_with_tools', {}),
    elicitation: async (client, { call }) => {
        for (const name of ['ask', 'ask_form', 'ask_two', 'ask_in_turn']) await call(client, name, {});
    },
    'elicitation-url': (client, { call }) => call(client, 'ask_url', {}),
    roots: (client, { call }) => call(client, 'list_roots', {}),
    'list-changes': async (client, { call, changes }) => {
        await tools(client);
        await call(client, 'toggle_tool', {});
        await waitFor(() => changes.length > 0);
    },
    subscriptions: async (client, { call, handle, watch }) => {
        const uri = 'proof://counter';
        let updated = 0;
        handle(client, 'notifications/resources/updated', () => (updated += 1));
        const stop = await watch(client, uri);
        await call(client, 'touch_resource', {});
        await waitFor(() => updated > 0);
        await client.readResource({ uri });
        await stop();
    },
    caching: async (client) => {
        await tools(client);
        await tools(client);
    },
    echo: async (client, { call }) => {
        await tools(client);
        await call(client, 'echo', { message: 'Good day' });
        await call(client, 'sum', { a: 2, b: 3 });
    },
    // Everything that a client sees, a line for each step: `cargo xtask gateway-clients` compares the lines.
    crossing: async (client, { call }) => {
        const show = async (step, what) => {
            const failed = ({ code, message }) => ({ error: code ?? message });
            console.log(JSON.stringify({ step, value: (await what().catch(failed)) ?? null }));
        };
        const offered = await tools(client);
        for (const tool of offered) await show(`tool ${tool.name}`, async () => tool);
        for (const list of [resources, templates, prompts]) {
            for (const item of await list(client)) await show(`item ${item.uri ?? item.uriTemplate ?? item.name}`, async () => item);
        }
        for (const [name, args] of CALLS) await show(`call ${name}`, () => call(client, name, args));
        for (const { uri } of await resources(client)) await show(`read ${uri}`, () => client.readResource({ uri }));
        await show('read unknown', () => client.readResource({ uri: 'memo://none' }));
        for (const { name, arguments: wanted = [] } of await prompts(client)) {
            const args = Object.fromEntries(wanted.map((one) => [one.name, 'x']));
            await show(`prompt ${name}`, () => client.getPrompt({ name, arguments: args }));
        }
    },
    tasks: (client, { call, callAsTask }) => (callAsTask ?? call)(client, 'slow', {}),
    'hostile.endless-stream': async (client, { call }) => {
        const patience = { onprogress: () => {}, timeout: 2000, resetTimeoutOnProgress: true, maxTotalTimeout: 4000 };
        await call(client, 'echo', { message: 'Good day' }, patience);
    },
    'hostile.structured-otherwise': async (client, { call }) => {
        await tools(client);
        await call(client, 'sum', { a: 2, b: 3 });
    },
    'hostile.stream-cut': (client, { call }) => call(client, 'slow', {}, { timeout: 5000 }),
    // What goes wrong in between is for the next call to get over.
    'session-ended': async (client, { call }) => {
        await attempt(() => tools(client));
        for (const message of ['Good day', 'Good day, again']) await attempt(() => call(client, 'echo', { message }));
    },
    default: async (client, { call }) => {
        await tools(client);
        for (const message of ['Good day', 'Good day, again']) {
            const { content } = await call(client, 'echo', { message });
            console.log(content[0].text);
        }
    }
};

// Connects, does what the scenario asks for, and leaves. `sdk` holds what the SDK calls differently.
export async function run(sdk) {
    const changes = [];
    const listChanged = { tools: { debounceMs: 50, onChanged: (error, items) => changes.push(error ?? items) } };
    const options = { capabilities: CAPABILITIES[scenario] ?? {} };
    if (scenario === 'list-changes') options.listChanged = listChanged;
    const [era, target, ...args] = process.argv.slice(2);
    const client = sdk.newClient(options, era);
    client.onerror = (error) => console.error(`heard: ${error.message}`);
    answering(client, sdk);
    const transport = sdk.transport(target, args);
    await client.connect(transport);
    try {
        await (DEEDS[scenario] ?? DEEDS.default)(client, { ...sdk, changes });
    } finally {
        // How the SDKs' examples say goodbye to a session.
        await transport.terminateSession?.();
        await client.close();
    }
}
