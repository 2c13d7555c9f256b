package io.verbena.load.demo;

import io.verbena.client.KvTable;
import io.verbena.load.demo.RegisterFunctions.Function;
import io.verbena.load.history.VersionedOutputs;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;

/**
 * One client of the register workload: chooses operations, carries them out, writes them down in the words of elle's
 * model {@code versioned-kv-map}. Each value is written once in the whole run. Not thread-safe.
 */
final class RegisterClient
{
    /** That all clients share. */
    static final int KEYS = 4;
    private static final int PERCENT = 100;
    private static final int WITH_DEADLINES = 20;
    private static final int GET_BELOW = 45;
    private static final int PUT_BELOW = 60;
    private static final int PUT_IF_ABSENT_BELOW = 72;
    private static final int REPLACE_BELOW = 90;
    private static final int DELETE_BELOW = 95;

    private final KvTable table;
    private final RegisterCalls calls;
    private final SplittableRandom random;
    private final DeadlineSteps deadlineSteps;
    private final VersionedOutputs outputs = new VersionedOutputs(KEYS, RegisterCalls::value);

    RegisterClient(final KvTable table, final int client, final RegisterCalls calls)
    {
        this.table = table;
        this.calls = calls;
        random = new SplittableRandom(client);
        deadlineSteps = new DeadlineSteps(table, calls, random);
    }

    int process()
    {
        return calls.process();
    }

    /**
     * One operation on one key.
     */
    void step()
    {
        if (random.nextInt(PERCENT) < WITH_DEADLINES)
        {
            deadlineSteps.step();
            return;
        }
        final int index = random.nextInt(KEYS);
        final String name = "register-" + index;
        final byte[] key = name.getBytes(StandardCharsets.UTF_8);
        final long version = outputs.lastVersion(index);
        final int choice = random.nextInt(PERCENT);
        if (choice < GET_BELOW)
        {
            calls.run(name, Function.GET, null, () -> outputs.ofGet(index, table.get(key)));
        }
        else if (choice < PUT_BELOW)
        {
            final long value = calls.nextValue();
            calls.run(name, Function.PUT, value,
                () -> outputs.ofPut(index, table.put(key, RegisterCalls.bytes(value))));
        }
        else if (choice < PUT_IF_ABSENT_BELOW)
        {
            final long value = calls.nextValue();
            calls.run(name, Function.PUT_IF_ABSENT, value,
                () -> outputs.ofPutIfAbsent(index, table.putIfAbsent(key, RegisterCalls.bytes(value))));
        }
        else if (choice < REPLACE_BELOW)
        {
            final long value = calls.nextValue();
            calls.run(name, Function.REPLACE, List.of(version, value),
                () -> outputs.ofReplace(index, table.replace(key, RegisterCalls.bytes(value), version)));
        }
        else if (choice < DELETE_BELOW)
        {
            calls.run(name, Function.DELETE, null, () -> table.delete(key));
        }
        else
        {
            calls.run(
                name, Function.DELETE_VERSION, version, () -> outputs.ofDelete(index, table.delete(key, version)));
        }
    }
}
