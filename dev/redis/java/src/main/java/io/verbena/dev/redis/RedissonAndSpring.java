package io.verbena.dev.redis;

import org.redisson.Redisson;
import org.redisson.api.RAtomicLong;
import org.redisson.api.RBucket;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.ScanOptions;
import org.springframework.data.redis.core.SessionCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.ValueOperations;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;

/** Redisson's RBucket and RAtomicLong, and Spring Data's template: which operations work, one line each. */
public final class RedissonAndSpring
{
    private final List<String> refused = new ArrayList<>();
    private int failures;
    private int works;

    private RedissonAndSpring()
    {
    }

    /** @param arguments host and port. */
    public static void main(final String[] arguments)
    {
        final RedissonAndSpring run = new RedissonAndSpring();
        run.redisson(arguments[0], arguments[1]);
        System.out.println("Redisson: " + run.works + " operations work; refused for scripts: " + run.refused);
        run.refused.clear();
        run.works = 0;
        run.spring(arguments[0], Integer.parseInt(arguments[1]));
        System.out.println("Spring Data: " + run.works + " operations work; refused: " + run.refused);
        System.exit(0 == run.failures ? 0 : 1);
    }

    /** An operation works, or is refused since it is a script or a transaction: any other end is a failure. */
    private void check(final String what, final Object expected, final Callable<?> operation)
    {
        try
        {
            final Object found = operation.call();
            if (Objects.equals(expected, found))
            {
                works++;
            }
            else
            {
                failures++;
                System.out.println("FAILED " + what + ": " + found + ", expected " + expected);
            }
        }
        catch (final Exception ex)
        {
            final String all = ex + " " + ex.getCause();
            if (all.contains("EVAL") || all.contains("MULTI") || all.contains("MSETNX") || all.contains("BITCOUNT") ||
                all.contains("unknown command") || all.contains("SCRIPT") || all.contains("script"))
            {
                refused.add(what);
            }
            else
            {
                failures++;
                System.out.println("FAILED " + what + ": " + all);
            }
        }
    }

    private void redisson(final String host, final String port)
    {
        final Config config = new Config();
        config.setCodec(StringCodec.INSTANCE);
        config.useSingleServer().setAddress("redis://" + host + ":" + port).setConnectionMinimumIdleSize(2)
            .setConnectionPoolSize(4).setRetryAttempts(0);
        final RedissonClient client = Redisson.create(config);
        try
        {
            bucket(client);
            number(client);
        }
        finally
        {
            client.shutdown();
        }
    }

    private void bucket(final RedissonClient client)
    {
        final RBucket<String> bucket = client.getBucket("redisson:bucket");
        bucket.delete();
        check("RBucket.set", "a", () ->
        {
            bucket.set("a");
            return bucket.get();
        });
        check("RBucket.set(Duration)", true, () ->
        {
            bucket.set("b", Duration.ofSeconds(100));
            return bucket.remainTimeToLive() > 90_000;
        });
        check("RBucket.setAndKeepTTL", true, () ->
        {
            bucket.setAndKeepTTL("c");
            return bucket.remainTimeToLive() > 90_000;
        });
        check("RBucket.size", 1L, bucket::size);
        check("RBucket.isExists", true, bucket::isExists);
        check("RBucket.getAndSet", "c", () -> bucket.getAndSet("d"));
        check("RBucket.getAndSet(Duration)", "d", () -> bucket.getAndSet("e", Duration.ofSeconds(100)));
        bucket.set("e");
        check("RBucket.getAndExpire(Duration)", "e", () -> bucket.getAndExpire(Duration.ofSeconds(50)));
        check("RBucket.getAndExpire(Instant)", "e", () -> bucket.getAndExpire(Instant.now().plusSeconds(50)));
        check("RBucket.getAndClearExpire", "e", bucket::getAndClearExpire);
        check("RBucket.expire(Duration)", true, () -> bucket.expire(Duration.ofSeconds(100)));
        check("RBucket.expire(Instant)", true, () -> bucket.expire(Instant.now().plusSeconds(100)));
        check("RBucket.expireIfSet", true, () -> bucket.expireIfSet(Duration.ofSeconds(100)));
        check("RBucket.expireIfNotSet", false, () -> bucket.expireIfNotSet(Duration.ofSeconds(100)));
        check("RBucket.expireIfGreater", true, () -> bucket.expireIfGreater(Duration.ofSeconds(200)));
        check("RBucket.expireIfLess", true, () -> bucket.expireIfLess(Duration.ofSeconds(100)));
        bucket.set("e", Duration.ofSeconds(100));
        check("RBucket.getExpireTime", true, () -> bucket.getExpireTime() > System.currentTimeMillis());
        check("RBucket.clearExpire", true, bucket::clearExpire);
        conditions(client, bucket);
    }

    private void conditions(final RedissonClient client, final RBucket<String> bucket)
    {
        check("RBucket.setIfAbsent", false, () -> bucket.setIfAbsent("x"));
        check("RBucket.setIfAbsent(Duration)", false, () -> bucket.setIfAbsent("x", Duration.ofSeconds(1)));
        check("RBucket.setIfExists", true, () -> bucket.setIfExists("f"));
        check("RBucket.setIfExists(Duration)", true, () -> bucket.setIfExists("g", Duration.ofSeconds(100)));
        check("RBucket.compareAndSet", true, () -> bucket.compareAndSet("g", "g"));
        check("RBucket.touch", true, bucket::touch);
        check("RBucket.copy", true, () -> bucket.copy("redisson:other"));
        check("RBucket.rename", true, () ->
        {
            final RBucket<String> other = client.getBucket("redisson:other");
            other.rename("redisson:third");
            return client.getBucket("redisson:third").delete();
        });
        check("RBucket.sizeInMemory", true, () -> bucket.sizeInMemory() > 0);
        check("RBucket.getAndDelete", "g", bucket::getAndDelete);
        bucket.set("h");
        check("RBucket.unlink", true, bucket::unlink);
        check("RBucket.delete", false, bucket::delete);
        check("RBucket.dump", true, () -> null != bucket.dump());
        check("RBuckets.set and get", Map.of("redisson:1", "a", "redisson:2", "b"), () ->
        {
            client.getBuckets().set(Map.of("redisson:1", "a", "redisson:2", "b"));
            return client.getBuckets().get("redisson:1", "redisson:2", "redisson:3");
        });
        check("RBuckets.trySet", true, () -> client.getBuckets().trySet(Map.of("redisson:4", "a")));
        check("RKeys.delete", 2L, () -> client.getKeys().delete("redisson:1", "redisson:2"));
        check("RKeys.getKeys", true, () -> null != client.getKeys().getKeys().iterator());
        check("RKeys.deleteByPattern", 0L, () -> client.getKeys().deleteByPattern("redisson:none*"));
    }

    private void number(final RedissonClient client)
    {
        final RAtomicLong number = client.getAtomicLong("redisson:number");
        check("RAtomicLong.delete", true, () ->
        {
            number.set(1);
            return number.delete();
        });
        check("RAtomicLong.get", 0L, number::get);
        check("RAtomicLong.set", 5L, () ->
        {
            number.set(5);
            return number.get();
        });
        check("RAtomicLong.incrementAndGet", 6L, number::incrementAndGet);
        check("RAtomicLong.decrementAndGet", 5L, number::decrementAndGet);
        check("RAtomicLong.addAndGet", 10L, () -> number.addAndGet(5));
        check("RAtomicLong.getAndIncrement", 10L, number::getAndIncrement);
        check("RAtomicLong.getAndDecrement", 11L, number::getAndDecrement);
        check("RAtomicLong.getAndAdd", 10L, () -> number.getAndAdd(5));
        check("RAtomicLong.getAndSet", 15L, () -> number.getAndSet(20));
        check("RAtomicLong.compareAndSet", true, () -> number.compareAndSet(20, 20));
        check("RAtomicLong.setIfLess", true, () -> number.setIfLess(30, 20));
        check("RAtomicLong.setIfGreater", true, () -> number.setIfGreater(10, 20));
        check("RAtomicLong.expire", true, () -> number.expire(Duration.ofSeconds(100)));
        check("RAtomicLong.remainTimeToLive", -1L, number::remainTimeToLive);
        check("RAtomicLong.clearExpire", false, number::clearExpire);
        check("RAtomicLong.getAndDelete", 20L, number::getAndDelete);
        number.delete();
    }

    private void spring(final String host, final int port)
    {
        final LettuceConnectionFactory factory =
            new LettuceConnectionFactory(new RedisStandaloneConfiguration(host, port));
        factory.afterPropertiesSet();
        factory.start();
        try
        {
            final StringRedisTemplate template = new StringRedisTemplate(factory);
            template.delete(List.of("spring:a", "spring:b", "spring:n"));
            values(template.opsForValue());
            keys(template);
        }
        finally
        {
            factory.destroy();
        }
    }

    private void values(final ValueOperations<String, String> values)
    {
        check("set, get", "x", () ->
        {
            values.set("spring:a", "x");
            return values.get("spring:a");
        });
        check("set(Duration)", "y", () ->
        {
            values.set("spring:a", "y", Duration.ofSeconds(100));
            return values.get("spring:a");
        });
        check("setIfAbsent", false, () -> values.setIfAbsent("spring:a", "z"));
        check("setIfAbsent(Duration)", false, () -> values.setIfAbsent("spring:a", "z", Duration.ofSeconds(1)));
        check("setIfPresent", true, () -> values.setIfPresent("spring:a", "z"));
        check("setIfPresent(Duration)", true, () -> values.setIfPresent("spring:a", "z", Duration.ofSeconds(9)));
        check("getAndSet", "z", () -> values.getAndSet("spring:a", "abc"));
        check("getAndExpire", "abc", () -> values.getAndExpire("spring:a", Duration.ofSeconds(9)));
        check("getAndPersist", "abc", () -> values.getAndPersist("spring:a"));
        check("append", 5, () -> values.append("spring:a", "de"));
        check("get(range)", "bcd", () -> values.get("spring:a", 1, 3));
        check("set(offset)", "aXYde", () ->
        {
            values.set("spring:a", "XY", 1);
            return values.get("spring:a");
        });
        check("size", 5L, () -> values.size("spring:a"));
        check("increment", 1L, () -> values.increment("spring:n"));
        check("increment(long)", 6L, () -> values.increment("spring:n", 5));
        check("decrement", 5L, () -> values.decrement("spring:n"));
        check("decrement(long)", 3L, () -> values.decrement("spring:n", 2));
        check("increment(double)", 3.5, () -> values.increment("spring:n", 0.5));
        check("multiSet, multiGet", List.of("1", "2"), () ->
        {
            values.multiSet(Map.of("spring:a", "1", "spring:b", "2"));
            return values.multiGet(List.of("spring:a", "spring:b"));
        });
        check("multiSetIfAbsent", true, () -> values.multiSetIfAbsent(Map.of("spring:c", "1")));
        check("getAndDelete", "2", () -> values.getAndDelete("spring:b"));
        check("setBit", false, () -> values.setBit("spring:b", 1, true));
    }

    private void keys(final StringRedisTemplate template)
    {
        check("hasKey", true, () -> template.hasKey("spring:a"));
        check("expire", true, () -> template.expire("spring:a", Duration.ofSeconds(100)));
        check("getExpire", true, () -> template.getExpire("spring:a") > 90);
        check("expireAt", true, () -> template.expireAt("spring:a", Instant.now().plusSeconds(50)));
        check("persist", true, () -> template.persist("spring:a"));
        check("type", "STRING", () -> template.type("spring:a").name());
        check("rename", "1", () ->
        {
            template.rename("spring:a", "spring:b");
            return template.opsForValue().get("spring:b");
        });
        check("renameIfAbsent", true, () -> template.renameIfAbsent("spring:b", "spring:a"));
        check("copy", true, () -> template.copy("spring:a", "spring:b", true));
        check("scan", true, () ->
        {
            int count = 0;
            try (var cursor = template.scan(ScanOptions.scanOptions().match("spring:*").count(100).build()))
            {
                while (cursor.hasNext())
                {
                    cursor.next();
                    count++;
                }
            }
            return count >= 3;
        });
        check("keys", true, () -> template.keys("spring:*").size() >= 3);
        check("randomKey", true, () -> null != template.randomKey());
        check("countExistingKeys", 2L, () -> template.countExistingKeys(List.of("spring:a", "spring:b")));
        check("executePipelined", List.of(true, true), () -> template.executePipelined(
            (RedisCallback<Object>)(connection) ->
            {
                connection.stringCommands().set("spring:a".getBytes(), "1".getBytes());
                connection.stringCommands().set("spring:b".getBytes(), "1".getBytes());
                return null;
            }));
        check("transaction", true, () -> template.execute(
            new SessionCallback<Object>()
            {
                @Override
                public Object execute(final RedisOperations operations)
                {
                    operations.multi();
                    return null != operations.exec();
                }
            }));
        check("unlink", true, () -> template.unlink("spring:a"));
        check("delete", 2L, () -> template.delete(List.of("spring:b", "spring:n")));
    }
}
