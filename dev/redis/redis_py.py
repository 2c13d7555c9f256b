"""What redis-py's clients do against a compute node; prints one line for each, and ends with 1 if one failed."""
import asyncio
import sys
import time

import redis
import redis.asyncio
import redis.cluster

host, port = sys.argv[1], int(sys.argv[2])
is_cluster = len(sys.argv) > 3 and sys.argv[3] == 'cluster'
failures = 0


def check(what, actual, expected):
    global failures
    if actual != expected:
        failures += 1
        print(f'FAILED {what}: {actual!r:.200}, expected {expected!r:.200}')


def strings(client):
    for key in list(client.scan_iter(match='py:*', count=1000)):
        client.delete(key)
    check('set', client.set('py:a', 'x', ex=100), True)
    check('get', client.get('py:a'), b'x')
    check('ttl', 90 < client.ttl('py:a') <= 100, True)
    check('set nx', client.set('py:a', 'y', nx=True), None)
    check('incr', client.incr('py:b', 5), 5)
    check('incrbyfloat', client.incrbyfloat('py:b', 0.5), 5.5)
    check('append', client.append('py:a', 'yz'), 3)
    check('getrange', client.getrange('py:a', 1, 2), b'yz')
    check('getex', client.getex('py:a', persist=True), b'xyz')
    check('pttl', client.pttl('py:a'), -1)
    check('expire', client.expire('py:a', 10), True)
    check('scan_iter', sorted(set(client.scan_iter(match='py:*', count=100))), [b'py:a', b'py:b'])
    check('exists', client.exists('py:a'), 1)
    check('type', client.type('py:a'), b'string')


def main():
    if is_cluster:
        client = redis.cluster.RedisCluster(host=host, port=port)
        strings(client)
        check('mget_nonatomic', client.mget_nonatomic(['py:a', 'py:b']), [b'xyz', b'5.5'])
        check('nodes', len(client.get_nodes()) >= 1, True)
        for i in range(200):
            client.set(f'py:c{i}', i)
        check('cluster values', all(client.get(f'py:c{i}') == str(i).encode() for i in range(200)), True)
        print('redis-py cluster: done')
        return
    client = redis.Redis(host=host, port=port)
    strings(client)
    check('mget', client.mget('py:a', 'py:none'), [b'xyz', None])
    check('mset', client.mset({'py:a': 1, 'py:b': 2}), True)
    pipe = client.pipeline(transaction=False)
    for i in range(1000):
        pipe.set(f'py:p{i}', i)
    check('pipeline', pipe.execute(), [True] * 1000)
    try:
        client.pipeline().set('py:t', 1).execute()
        check('transaction', 'accepted', 'refused')
    except redis.exceptions.RedisError as ex:
        check('transaction', 'not supported' in str(ex), True)
    check('nothing of the transaction', client.get('py:t'), None)
    check('client list', len(client.client_list()) >= 1, True)
    check('info', client.info()['role'], 'master')
    check('config', client.config_get('maxmemory'), {'maxmemory': '0'})
    check('set with lock options', client.set('py:lock', 'token', nx=True, px=50), True)
    time.sleep(0.06)
    check('expired', client.get('py:lock'), None)
    print('redis-py: done')
    asyncio.run(asynchronously())
    client.delete(*client.scan_iter(match='py:*', count=1000))


async def asynchronously():
    client = redis.asyncio.Redis(host=host, port=port)
    await asyncio.gather(*(client.set(f'py:q{i}', i) for i in range(100)))
    check('asyncio', await asyncio.gather(*(client.get(f'py:q{i}') for i in range(100))),
          [str(i).encode() for i in range(100)])
    await client.close()
    print('redis-py asyncio: done')


main()
sys.exit(1 if failures else 0)
