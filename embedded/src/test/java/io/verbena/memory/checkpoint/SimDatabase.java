package io.verbena.memory.checkpoint;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * What is on a simulated disk of a checkpoint's database. Batches are written whole and in order; those that were not
 * synced are lost with the host, the last ones first.
 */
public final class SimDatabase
{
    private record Change(byte[] key, byte[] value)
    {
    }

    private final TreeMap<byte[], byte[]> live = new TreeMap<>(Arrays::compareUnsigned);
    private final TreeMap<byte[], byte[]> durable = new TreeMap<>(Arrays::compareUnsigned);
    private final List<List<Change>> unsynced = new ArrayList<>();
    private boolean exists;
    private boolean splitsBatches;
    private boolean syncsNever;

    /** Whether a process ever opened it. */
    public boolean exists()
    {
        return exists;
    }

    /** Breaks the contract: a batch is not there whole or not at all. */
    public void splitBatches()
    {
        splitsBatches = true;
    }

    /** Breaks the contract: nothing is synced. */
    public void syncNever()
    {
        syncsNever = true;
    }

    /** The host ends: of what was not synced, some of the first batches stay. */
    public void loseHost(final RandomGenerator random)
    {
        final int kept = random.nextInt(unsynced.size() + 1);
        unsynced.subList(0, kept).forEach((batch) -> apply(batch, durable));
        unsynced.clear();
        live.clear();
        live.putAll(durable);
    }

    /**
     * Opens it for a process.
     *
     * @param step       called before each step of the disk; may throw.
     * @param batchBytes when a batch is written.
     */
    public CheckpointStore open(final Consumer<String> step, final int batchBytes)
    {
        exists = true;
        return CheckpointStore.open(Path.of("sim"), (path) -> new Session(step), batchBytes);
    }

    private static void apply(final List<Change> batch, final Map<byte[], byte[]> target)
    {
        for (final Change change : batch)
        {
            if (change.value == null)
            {
                target.remove(change.key);
            }
            else
            {
                target.put(change.key, change.value);
            }
        }
    }

    private final class Session implements CheckpointDatabase
    {
        private final Consumer<String> step;
        private List<Change> batch = new ArrayList<>();
        private long bytes;

        private Session(final Consumer<String> step)
        {
            this.step = step;
        }

        @Override
        public byte[] get(final byte[] key)
        {
            step.accept("get");
            final byte[] value = live.get(key);
            return value == null ? null : value.clone();
        }

        @Override
        public void forEachKey(final byte first, final Consumer<byte[]> consumer)
        {
            step.accept("list");
            live.keySet().stream().filter((key) -> key[0] == first).toList().forEach(consumer);
        }

        @Override
        public void put(final byte[] key, final byte[] value)
        {
            batch.add(new Change(key.clone(), value.clone()));
            bytes += key.length + value.length;
        }

        @Override
        public void remove(final byte[] key)
        {
            batch.add(new Change(key.clone(), null));
            bytes += key.length;
        }

        @Override
        public long batchBytes()
        {
            return bytes;
        }

        @Override
        public void write(final boolean isSynced)
        {
            step.accept("write");
            final List<Change> written = batch;
            clear();
            for (final List<Change> part : splitsBatches ? written.stream().map(List::of).toList() : List.of(written))
            {
                apply(part, live);
                unsynced.add(part);
                if (splitsBatches)
                {
                    step.accept("write the rest");
                }
            }
            if (isSynced && !syncsNever)
            {
                unsynced.forEach((earlier) -> apply(earlier, durable));
                unsynced.clear();
            }
            step.accept("written");
        }

        @Override
        public void clear()
        {
            batch = new ArrayList<>();
            bytes = 0;
        }

        @Override
        public void close()
        {
            // Nothing is open.
        }
    }
}
