package io.verbena.table;

import io.verbena.raas.OneSidedPort;
import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Memory nodes and ports whose requests execute in steps of one 64-byte line or one atomic, in an order drawn from a
 * seed: the smallest thing that shows an engine every interleaving, thousands of runs a second. The same protocols run
 * over the simulated verbs of {@code rdma-core} in {@link TableSimTest}.
 */
public final class StepFabric implements AutoCloseable
{
    private static final int LINE_BYTES = 64;
    private static final int MAX_SPACE = 64;

    final Random random;
    boolean tearing = true;
    boolean readsOvertakeAtomics;
    boolean inOrder;
    private long digest;
    private final Map<Integer, UnsafeBuffer> memories = new HashMap<>();
    private final List<StepPort> ports = new ArrayList<>();
    private final List<MemoryRegion> regions = new ArrayList<>();
    private final LocalDomain domain = new LocalDomain();

    /** Where completions go. */
    interface Completions
    {
        void onBatchComplete(int cookie, int status);
    }

    StepFabric(final long seed)
    {
        random = new Random(seed);
    }

    UnsafeBuffer addMemory(final int nodeId, final int lengthBytes)
    {
        final MemoryRegion region = domain.allocateRegistered(lengthBytes, 0);
        regions.add(region);
        final UnsafeBuffer memory = new UnsafeBuffer(region.address(), lengthBytes);
        memories.put(nodeId, memory);
        return memory;
    }

    UnsafeBuffer memory(final int nodeId)
    {
        return memories.get(nodeId);
    }

    /** Reads as a tool does, at once. */
    void read(final int nodeId, final long offset, final MutableDirectBuffer target, final int lengthBytes)
    {
        target.putBytes(0, memories.get(nodeId), (int)offset, lengthBytes);
    }

    StepPort connect(final int nodeId, final Completions completions)
    {
        final StepPort port = new StepPort(memories.get(nodeId), completions);
        ports.add(port);
        return port;
    }

    /** Of all that was executed so far: where, and what was found or moved there. */
    long digest()
    {
        return digest;
    }

    private void note(final int offset, final long content)
    {
        digest = (digest ^ content) * 0xBF58_476D_1CE4_E5B9L + offset;
        digest ^= digest >>> 29;
    }

    /** Executes one step of some port. @return false when nothing is to be done anywhere. */
    public boolean step()
    {
        final int start = inOrder || ports.isEmpty() ? 0 : random.nextInt(ports.size());
        for (int i = 0; i < ports.size(); i++)
        {
            if (ports.get((start + i) % ports.size()).step())
            {
                return true;
            }
        }
        return false;
    }

    /** Runs until nothing is under way. */
    void drain()
    {
        while (step())
        {
            Thread.onSpinWait();
        }
    }

    @Override
    public void close()
    {
        regions.forEach(MemoryRegion::close);
        regions.clear();
    }

    private static final class Verb
    {
        private final char kind;
        private final MemoryRegion local;
        private final int localOffset;
        private final int lengthBytes;
        private final int remoteOffset;
        private final long expected;
        private final long desired;
        private final boolean fenced;
        private List<Integer> lines;

        private Verb(
            final char kind,
            final MemoryRegion local,
            final long localOffset,
            final int lengthBytes,
            final long remoteOffset,
            final long expected,
            final long desired,
            final boolean fenced)
        {
            this.kind = kind;
            this.local = local;
            this.localOffset = (int)localOffset;
            this.lengthBytes = lengthBytes;
            this.remoteOffset = (int)remoteOffset;
            this.expected = expected;
            this.desired = desired;
            this.fenced = fenced;
        }
    }

    private static final class Posted
    {
        private final int cookie;
        private final Deque<Verb> verbs;

        private Posted(final int cookie, final Deque<Verb> verbs)
        {
            this.cookie = cookie;
            this.verbs = verbs;
        }
    }

    /** A connection; ordered, slow at times, and able to fail between any two steps. */
    final class StepPort implements OneSidedPort
    {
        final VerbCounters counters = new VerbCounters();
        private final UnsafeBuffer memory;
        private final Completions completions;
        private final Deque<Posted> posted = new ArrayDeque<>();
        private Deque<Verb> staged;
        private boolean fence;
        private boolean failed;
        private boolean cut;
        private int asleep;
        boolean deaf;
        int maxBatchRequests = 1000;
        int preloads;
        /** Lengths of READs in the order in which they were staged. */
        final List<Integer> readBytes = new ArrayList<>();
        /** How many more READs are taken before one is refused, once; negative for all. */
        int readsUntilRefusal = -1;

        private StepPort(final UnsafeBuffer memory, final Completions completions)
        {
            this.memory = memory;
            this.completions = completions;
        }

        @Override
        public boolean isReady()
        {
            return !failed;
        }

        @Override
        public boolean isFailed()
        {
            return failed;
        }

        @Override
        public int space()
        {
            return failed || posted.size() > MAX_SPACE - LEAST_SPACE ? 0 :
                maxBatchRequests - (staged == null ? 0 : staged.size());
        }

        @Override
        public long regionLengthBytes()
        {
            return memory.capacity();
        }

        @Override
        public void preload(final long remoteOffset, final int lengthBytes)
        {
            preloads++;
        }

        @Override
        public void abort()
        {
            staged = null;
            fence = false;
        }

        @Override
        public void begin()
        {
            staged = new ArrayDeque<>();
        }

        @Override
        public void read(
            final MemoryRegion local, final long localOffset, final int lengthBytes, final long remoteOffset)
        {
            if (readsUntilRefusal-- == 0)
            {
                abort();
                throw new RaasMisuseException("a READ that a test has refused");
            }
            counters.reads++;
            counters.payloadBytes += lengthBytes;
            readBytes.add(lengthBytes);
            stage('r', local, localOffset, lengthBytes, remoteOffset, 0, 0);
        }

        @Override
        public void write(
            final MemoryRegion local, final long localOffset, final int lengthBytes, final long remoteOffset)
        {
            counters.writes++;
            counters.payloadBytes += lengthBytes;
            stage('w', local, localOffset, lengthBytes, remoteOffset, 0, 0);
        }

        @Override
        public void compareSwap(
            final MemoryRegion local,
            final long localOffset,
            final long remoteOffset,
            final long expected,
            final long desired)
        {
            counters.compareSwaps++;
            counters.payloadBytes += Long.BYTES;
            stage('c', local, localOffset, Long.BYTES, remoteOffset, expected, desired);
        }

        @Override
        public void fenceNext()
        {
            fence = true;
        }

        @Override
        public int complete(final int cookie)
        {
            if (failed)
            {
                return PostStatus.INVALID_STATE;
            }
            counters.doorbells++;
            posted.add(new Posted(cookie, staged));
            staged = null;
            return PostStatus.OK;
        }

        private void stage(
            final char kind,
            final MemoryRegion local,
            final long localOffset,
            final int lengthBytes,
            final long remoteOffset,
            final long expected,
            final long desired)
        {
            if (staged == null || remoteOffset < 0 || remoteOffset > memory.capacity() - lengthBytes)
            {
                final String why = staged == null ? "without begin()" : "beyond the region";
                abort();
                throw new RaasMisuseException(kind + " of " + lengthBytes + " bytes at " + remoteOffset + ' ' + why);
            }
            staged.add(new Verb(kind, local, localOffset, lengthBytes, remoteOffset, expected, desired, fence));
            fence = false;
        }

        boolean isIdle()
        {
            return posted.isEmpty();
        }

        /** Requests not executed yet never are; batches are answered with an error, or not at all. */
        void fail(final boolean answer)
        {
            failed = true;
            if (!answer)
            {
                posted.clear();
                return;
            }
            while (!posted.isEmpty())
            {
                completions.onBatchComplete(posted.poll().cookie, WorkCompletionStatus.RETRY_EXC_ERR);
            }
        }

        /** What was posted still executes, line by line, but nobody hears of it any more. */
        void cut()
        {
            cut = true;
        }

        private boolean step()
        {
            if (posted.isEmpty() || deaf)
            {
                return false;
            }
            if (!inOrder && asleep > 0)
            {
                asleep--;
                return true;
            }
            if (!inOrder && random.nextInt(200) == 0)
            {
                asleep = random.nextInt(400);
            }
            final Posted batch = posted.peek();
            if (batch.verbs.isEmpty())
            {
                posted.poll();
                if (!cut)
                {
                    completions.onBatchComplete(batch.cookie, WorkCompletionStatus.SUCCESS);
                }
                return true;
            }
            executeOne(batch);
            return true;
        }

        private void executeOne(final Posted batch)
        {
            Verb verb = batch.verbs.poll();
            if (verb.kind == 'c' && readsOvertakeAtomics && !batch.verbs.isEmpty() && random.nextBoolean() &&
                batch.verbs.peek().kind == 'r' && !batch.verbs.peek().fenced)
            {
                final Verb read = batch.verbs.poll();
                batch.verbs.push(verb);
                verb = read;
                asleep = random.nextInt(30);
            }
            if (verb.kind == 'c')
            {
                swap(verb);
            }
            else if (!moveLine(verb))
            {
                batch.verbs.push(verb);
            }
        }

        private void swap(final Verb verb)
        {
            final long found = memory.getLong(verb.remoteOffset, LITTLE_ENDIAN);
            if (found == verb.expected)
            {
                memory.putLong(verb.remoteOffset, verb.desired, LITTLE_ENDIAN);
            }
            local(verb).putLong(verb.localOffset, found, LITTLE_ENDIAN);
            note(verb.remoteOffset, found);
        }

        /** @return whether the request is complete. */
        private boolean moveLine(final Verb verb)
        {
            if (verb.lines == null)
            {
                verb.lines = new ArrayList<>();
                for (int at = 0; at < verb.lengthBytes; at += LINE_BYTES)
                {
                    verb.lines.add(at);
                }
                if (tearing)
                {
                    Collections.shuffle(verb.lines, random);
                }
            }
            do
            {
                final int at = verb.lines.removeLast();
                final int length = Math.min(LINE_BYTES, verb.lengthBytes - at);
                if (verb.kind == 'r')
                {
                    local(verb).putBytes(verb.localOffset + at, memory, verb.remoteOffset + at, length);
                }
                else
                {
                    memory.putBytes(verb.remoteOffset + at, local(verb), verb.localOffset + at, length);
                }
                note(verb.remoteOffset + at, hash(verb.remoteOffset + at, length));
            }
            while (!tearing && !verb.lines.isEmpty());
            return verb.lines.isEmpty();
        }

        private long hash(final int offset, final int length)
        {
            long hash = 0;
            for (int at = 0; at <= length - Long.BYTES; at += Long.BYTES)
            {
                hash = hash * 31 + memory.getLong(offset + at, LITTLE_ENDIAN);
            }
            return hash;
        }

        private static UnsafeBuffer local(final Verb verb)
        {
            return new UnsafeBuffer(verb.local.address(), (int)verb.local.lengthBytes());
        }
    }
}
