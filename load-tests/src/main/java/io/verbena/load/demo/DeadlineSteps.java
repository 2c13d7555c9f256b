package io.verbena.load.demo;

import io.verbena.client.ExpiringRecords;
import io.verbena.client.Expiry;
import io.verbena.client.KvEntry;
import io.verbena.client.KvTable;
import io.verbena.client.PutResult;
import io.verbena.client.ReplaceResult;
import io.verbena.load.demo.RegisterFunctions.Function;
import org.agrona.concurrent.SystemEpochClock;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * What one register client does with records that have deadlines, which are so near that many records end by them. Not
 * thread-safe.
 */
final class DeadlineSteps
{
    private static final int KEYS = 4;
    private static final int PERCENT = 100;
    private static final int GET_BELOW = 40;
    private static final int TTL_BELOW = 55;
    private static final int PUT_UNTIL_BELOW = 70;
    private static final int PUT_IF_ABSENT_BELOW = 80;
    private static final int EXPIRE_BELOW = 87;
    private static final int PERSIST_BELOW = 90;
    private static final int KEEP_BELOW = 94;
    private static final int PUT_BELOW = 97;
    /** Also where the clocks of nodes differ. */
    private static final long MOST_LEFT_MS = ElapsedDeadlines.LONGEST_MS + 1_000;
    private static final List<Expiry.Condition> CONDITIONS = List.of(Expiry.Condition.values());
    /** In the order of the conditions, by the model's words. */
    private static final List<String> CONDITION_WORDS = List.of("always", "if-none", "if-some", "later", "earlier");

    private final KvTable table;
    private final RegisterCalls calls;
    private final SplittableRandom random;

    DeadlineSteps(final KvTable table, final RegisterCalls calls, final SplittableRandom random)
    {
        this.table = table;
        this.calls = calls;
        this.random = random;
    }

    /** One operation on one key. */
    void step()
    {
        final String name = "expiring-" + random.nextInt(KEYS);
        final byte[] key = name.getBytes(StandardCharsets.UTF_8);
        final int choice = random.nextInt(PERCENT);
        if (choice < GET_BELOW)
        {
            calls.run(name, Function.GET_UNTIL, null, () -> ofGet(table.get(key)));
        }
        else if (choice < TTL_BELOW)
        {
            calls.run(name, Function.EXISTS, null, () -> ofTimeToLive(name, table.timeToLive(key)));
        }
        else if (choice < EXPIRE_BELOW)
        {
            writeUntil(name, key, choice, ElapsedDeadlines.draw(random, SystemEpochClock.INSTANCE.time()));
        }
        else if (choice < PERSIST_BELOW)
        {
            calls.run(name, Function.EXPIRE, Arrays.asList(null, "if-some"),
                () -> ofExpire(table.expire(key, Expiry.NEVER, Expiry.Condition.IF_SOME)));
        }
        else
        {
            write(name, key, choice);
        }
    }

    private void writeUntil(final String name, final byte[] key, final int choice, final long deadlineMs)
    {
        final Expiry expiry = Expiry.at(Instant.ofEpochMilli(deadlineMs));
        final long value = calls.nextValue();
        if (choice < PUT_UNTIL_BELOW)
        {
            calls.runUntil(name, Function.PUT_UNTIL, List.of(value, deadlineMs), deadlineMs,
                () -> table.put(key, RegisterCalls.bytes(value), expiry));
        }
        else if (choice < PUT_IF_ABSENT_BELOW)
        {
            calls.runUntil(name, Function.PUT_IF_ABSENT_UNTIL, List.of(value, deadlineMs), deadlineMs,
                () -> ofPut(table.putIfAbsent(key, RegisterCalls.bytes(value), expiry)));
        }
        else
        {
            final int condition = random.nextInt(CONDITIONS.size());
            calls.runUntil(name, Function.EXPIRE, List.of(deadlineMs, CONDITION_WORDS.get(condition)), deadlineMs,
                () -> ofExpire(table.expire(key, expiry, CONDITIONS.get(condition))));
        }
    }

    private void write(final String name, final byte[] key, final int choice)
    {
        final long value = calls.nextValue();
        if (choice < KEEP_BELOW)
        {
            calls.run(name, Function.PUT_IF_PRESENT_KEEP, value,
                () -> ofReplace(table.replace(key, RegisterCalls.bytes(value), Expiry.KEEP)));
        }
        else if (choice < PUT_BELOW)
        {
            calls.run(name, Function.PUT, value, () -> table.put(key, RegisterCalls.bytes(value)));
        }
        else
        {
            calls.run(name, Function.DELETE, null, () -> table.delete(key));
        }
    }

    private static Object ofGet(final Optional<KvEntry> entry)
    {
        return entry.isEmpty() ? null : Arrays.asList(RegisterCalls.value(entry.get()), entry.get().version(),
            0 == entry.get().deadlineMs() ? null : entry.get().deadlineMs());
    }

    /** A time that no write of this workload can have left is an error of the store. */
    private Object ofTimeToLive(final String name, final Optional<Expiry.TimeToLive> time)
    {
        if (time.isPresent() && time.get().deadlineMs() != 0 &&
            (time.get().deadlineMs() % ElapsedDeadlines.GRID_MS != 0 || time.get().leftMs() < 1 ||
            time.get().leftMs() > MOST_LEFT_MS))
        {
            calls.onError("ttl of " + name + ": nobody has named that deadline: " + time.get());
        }
        return time.isPresent();
    }

    private static Object ofPut(final PutResult result)
    {
        return result.stored() ? (Object)result.version() : List.of(false, result.version());
    }

    private static Object ofExpire(final ExpiringRecords.ExpireResult result)
    {
        return switch (result.outcome())
        {
            case CHANGED -> result.version();
            case NOT_FOUND -> false;
            case CONDITION_NOT_MET -> List.of(false, result.version());
        };
    }

    private static Object ofReplace(final ReplaceResult result)
    {
        return ReplaceResult.Outcome.REPLACED == result.outcome() ? (Object)result.version() : Boolean.FALSE;
    }
}
