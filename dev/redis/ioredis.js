// What ioredis does against a compute node; prints one line, and ends with 1 if something failed.
const Redis = require('ioredis');
const assert = require('node:assert');

async function main() {
    const [host, port, kind] = process.argv.slice(2);
    const client = 'cluster' === kind ? new Redis.Cluster([{host, port: Number(port)}]) :
        new Redis({host, port: Number(port)});
    await client.del('io:a');
    assert.strictEqual(await client.set('io:a', 'x', 'EX', 100), 'OK');
    assert.strictEqual(await client.get('io:a'), 'x');
    assert.ok(await client.ttl('io:a') > 90);
    assert.strictEqual(await client.set('io:a', 'y', 'NX'), null);
    assert.strictEqual(await client.append('io:a', 'yz'), 3);
    assert.deepStrictEqual(await client.getBuffer('io:a'), Buffer.from('xyz'));
    await client.del('io:n');
    assert.strictEqual(await client.incrby('io:n', 5), 5);
    assert.strictEqual(await client.getex('io:a', 'PERSIST'), 'xyz');
    assert.strictEqual(await client.pttl('io:a'), -1);
    await Promise.all(Array.from({length: 500}, (unused, i) => client.set('io:p' + i, i)));
    const values = await Promise.all(Array.from({length: 500}, (unused, i) => client.get('io:p' + i)));
    assert.deepStrictEqual(values, Array.from({length: 500}, (unused, i) => String(i)));
    if ('cluster' !== kind) {
        const pipeline = client.pipeline();
        for (let i = 0; i < 500; i++) {
            pipeline.get('io:p' + i);
        }
        assert.ok((await pipeline.exec()).every(([error, value], i) => null === error && value === String(i)));
        const found = [];
        for await (const keys of client.scanStream({match: 'io:p*', count: 100})) {
            found.push(...keys);
        }
        assert.strictEqual(new Set(found).size, 500);
        await assert.rejects(client.multi({pipeline: false}), /MULTI is not supported/);
        await client.del(...found);
    }
    await client.quit();
    console.log('ioredis' + ('cluster' === kind ? ' cluster' : '') + ': done');
}

main().catch((error) => {
    console.error('FAILED ioredis:', error);
    process.exit(1);
});
