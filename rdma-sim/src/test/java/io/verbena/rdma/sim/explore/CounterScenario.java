package io.verbena.rdma.sim.explore;

import io.verbena.rdma.sim.SimConnections;
import io.verbena.rdma.sim.device.SimDevice;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** A word at a memory node and a few writers of it, each with one connection. */
final class CounterScenario implements SimExplorer.Scenario
{
    private static final int LINE_BYTES = 64;
    private static final int ADDS = 2;

    /** What the writers do. */
    enum Kind
    {
        /** Reads, then swaps, until the swap succeeds: right. */
        COMPARE_SWAP,
        /** Reads, then writes: loses updates. */
        READ_THEN_WRITE,
        /** The second continues after the first, also after its death, without fencing it: wrong. */
        TAKE_OVER,
        /** Adds and notes what it found. */
        RECORD_FOUND,
        /** The first writes two lines, the second reads them. */
        TWO_LINES,
        /** Adds and reads without fence in one batch. */
        ADD_THEN_READ
    }

    private final Kind kind;
    private final int count;
    private final Set<String> outcomes;
    private final List<Writer> writers = new ArrayList<>();
    private Endpoint memory;

    CounterScenario(final Kind kind, final int count)
    {
        this(kind, count, new HashSet<>());
    }

    CounterScenario(final Kind kind, final int count, final Set<String> outcomes)
    {
        this.kind = kind;
        this.count = count;
        this.outcomes = outcomes;
    }

    @Override
    public void prepare(final SimExploration run)
    {
        memory = new Endpoint(run.addDevice("memory"));
        for (int i = 0; i < count; i++)
        {
            final SimDevice device = run.addDevice("writer-" + i);
            final Writer writer = new Writer(i, new Endpoint(device));
            SimConnections.connect(run.fabric(), writer.own, writer.own.queuePair, memory,
                memory.domain.createQueuePair(memory.completions, memory.completions, Endpoint.CAPABILITIES));
            writers.add(writer);
            run.addActor(device, writer, true);
        }
    }

    @Override
    public String verdict(final SimExploration run)
    {
        final long value = memory.getLong(0);
        final long acknowledged = writers.stream().filter(writer -> writer.isAcknowledged).count();
        switch (kind)
        {
            case COMPARE_SWAP, READ_THEN_WRITE ->
            {
                final boolean isRight = value >= acknowledged && value <= count;
                return isRight ? null : "counter is " + value + ", acknowledged " + acknowledged;
            }
            case TAKE_OVER ->
            {
                final Writer successor = writers.get(1);
                final boolean isOverwritten = successor.isAcknowledged && value != successor.found.get(0) + 10;
                return isOverwritten ? "overwritten by the dead: " + value : null;
            }
            case RECORD_FOUND -> outcomes.add(writers.stream().map(writer -> writer.found).toList().toString());
            case TWO_LINES, ADD_THEN_READ -> outcomes.add(writers.get(count - 1).seen);
            default -> throw new AssertionError(kind);
        }
        return null;
    }

    /** All orders of the adds of some writers, one by one, without any cleverness. @return how many. */
    static long enumerate(final int writers, final Set<String> outcomes)
    {
        final List<List<Long>> found = new ArrayList<>();
        for (int i = 0; i < writers; i++)
        {
            found.add(new ArrayList<>());
        }
        return enumerate(found, 0, outcomes);
    }

    private static long enumerate(final List<List<Long>> found, final long value, final Set<String> outcomes)
    {
        long orders = 0;
        for (final List<Long> one : found)
        {
            if (one.size() < ADDS)
            {
                one.add(value);
                orders += enumerate(found, value + 1, outcomes);
                one.removeLast();
            }
        }
        if (orders == 0)
        {
            outcomes.add(found.toString());
            return 1;
        }
        return orders;
    }

    /** One of the writers. */
    private final class Writer implements SimActor
    {
        private final int index;
        private final Endpoint own;
        private final WorkCompletions completions = new WorkCompletions(4);
        private final List<Long> found = new ArrayList<>();
        private String seen = "";
        private boolean isPosted;
        private boolean isSwapping;
        private boolean isAcknowledged;

        private Writer(final int index, final Endpoint own)
        {
            this.index = index;
            this.own = own;
        }

        @Override
        public boolean isDone()
        {
            return isAcknowledged;
        }

        @Override
        public boolean isOnItsOwn()
        {
            return kind != Kind.TAKE_OVER;
        }

        @Override
        public long stateHash()
        {
            return kind != Kind.TAKE_OVER ? HISTORY :
                1 + found.hashCode() * 8L + (isPosted ? 4 : 0) + (isSwapping ? 2 : 0) + (isAcknowledged ? 1 : 0);
        }

        @Override
        public int doWork()
        {
            if (isAcknowledged)
            {
                return 0;
            }
            if (isPosted)
            {
                final int polled = own.completions.poll(completions);
                if (polled > 0)
                {
                    isPosted = false;
                    onCompletion();
                }
                return polled;
            }
            if (kind == Kind.TAKE_OVER && index == 1 && !mayTakeOver())
            {
                return 0;
            }
            isPosted = true;
            own.queuePair.begin();
            post();
            own.queuePair.complete();
            return 1;
        }

        private boolean mayTakeOver()
        {
            return writers.get(0).isAcknowledged || ((SimDevice)writers.get(0).own.device).isKilled();
        }

        private void post()
        {
            switch (kind)
            {
                case COMPARE_SWAP, READ_THEN_WRITE, TAKE_OVER -> readThenChange();
                case RECORD_FOUND -> add(SendFlags.SIGNALED);
                case ADD_THEN_READ ->
                {
                    add(0);
                    read(LINE_BYTES, Long.BYTES);
                }
                case TWO_LINES ->
                {
                    if (index == 0)
                    {
                        own.region.segment().fill((byte)-1);
                        write(2 * LINE_BYTES);
                    }
                    else
                    {
                        read(0, 2 * LINE_BYTES);
                    }
                }
                default -> throw new AssertionError(kind);
            }
        }

        private void readThenChange()
        {
            if (!isSwapping)
            {
                read(0, Long.BYTES);
            }
            else if (kind == Kind.COMPARE_SWAP)
            {
                own.queuePair.compareSwap(0, SendFlags.SIGNALED, own.address(8), own.key(), memory.address(0),
                    memory.key(), found.getLast(), found.getLast() + 1);
            }
            else
            {
                own.putLong(0, found.getLast() + (kind == Kind.TAKE_OVER && index == 1 ? 10 : 1));
                write(Long.BYTES);
            }
        }

        private void onCompletion()
        {
            if (completions.status(0) != WorkCompletionStatus.SUCCESS)
            {
                throw new IllegalStateException("status " + completions.status(0));
            }
            switch (kind)
            {
                case COMPARE_SWAP, READ_THEN_WRITE, TAKE_OVER ->
                {
                    isAcknowledged = isSwapping && (kind != Kind.COMPARE_SWAP || own.getLong(8) == found.getLast());
                    isSwapping = !isSwapping;
                    if (isSwapping)
                    {
                        found.add(own.getLong(0));
                    }
                }
                case RECORD_FOUND ->
                {
                    found.add(own.getLong(0));
                    isAcknowledged = found.size() == ADDS;
                }
                default ->
                {
                    isAcknowledged = true;
                    seen = kind == Kind.ADD_THEN_READ ? "" + own.getLong(LINE_BYTES) :
                        "" + -own.getByte(0) + -own.getByte(LINE_BYTES);
                }
            }
        }

        private void add(final int flags)
        {
            own.queuePair.fetchAdd(0, flags, own.address(0), own.key(), memory.address(0), memory.key(), 1);
        }

        private void read(final int localOffset, final int lengthBytes)
        {
            own.queuePair.read(0, SendFlags.SIGNALED, own.address(localOffset), lengthBytes, own.key(),
                memory.address(0), memory.key());
        }

        private void write(final int lengthBytes)
        {
            own.queuePair.write(
                0, SendFlags.SIGNALED, own.address(0), lengthBytes, own.key(), memory.address(0), memory.key());
        }

        @Override
        public String roleName()
        {
            return "writer-" + index;
        }
    }
}
