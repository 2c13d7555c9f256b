package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.cluster.LossesCluster.Group;
import io.verbena.cli.cluster.LossesCluster.Shape;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.elle.history.EventType;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import static io.verbena.cli.cluster.LossesCluster.COMPUTE;
import static io.verbena.cli.cluster.LossesCluster.MEMORY;
import static io.verbena.cli.cluster.LossesCluster.META;
import static org.assertj.core.api.Assertions.assertThat;

/** One run of {@link RandomLossesSystemTest}, with a cluster of its own: what is lost when follows from the seed. */
final class LossesRun
{
    private static final int MORE_WRITES = 20;
    private static final int MOST_DELAY_MS = 1_500;
    private static final int LEAST_STOP_MS = 4_000;
    private static final int MOST_STOP_MS = 6_500;
    private static final int MOST_PAUSE_MS = 2_500;

    /** What a process has when it is started again. */
    private enum Return
    {
        /** What it had. */
        WITH_MEMORY,
        /** A memory node's folder, with its id and a checkpoint. */
        WITHOUT_MEMORY,
        /** Nothing: it is another memory node. */
        AS_ANOTHER_ONE,
        /** It is stopped, and goes on. */
        GOES_ON
    }

    /** What has to have happened before the next losses. */
    private enum Settled
    {
        FILLED, FILLING, ACTIVE
    }

    private record Loss(String name, int delayMs, Return how, int lengthMs)
    {
        private boolean loses()
        {
            return Return.WITHOUT_MEMORY == how || Return.AS_ANOTHER_ONE == how;
        }

        @Override
        public String toString()
        {
            return (Return.GOES_ON == how ? "stopped " : "killed ") + name + " after " + delayMs + " ms" +
                (Return.GOES_ON == how ? " for " + lengthMs + " ms" : name.startsWith(MEMORY) ? ", starts " +
                how.name().toLowerCase(Locale.ROOT).replace('_', ' ') : "");
        }
    }

    private final long seed;
    private final int rounds;
    private final Random random;
    private final Shape shape;
    private final long startNs = System.nanoTime();
    private final List<String> done = Collections.synchronizedList(new ArrayList<>());
    private final LossesHistory history;
    private final LossesCluster cluster;
    private volatile boolean isOver;

    LossesRun(final Path directory, final long seed, final int rounds)
    {
        this.seed = seed;
        this.rounds = rounds;
        random = new Random(seed);
        final int copies = 0 == random.nextInt(4) ? 2 : 3;
        shape = new Shape(0 == random.nextInt(3) ? 3 : 1, 3 + random.nextInt(2), 2 + random.nextInt(2), copies,
            0 == random.nextInt(4) ? 0 : 1, new int[]{ 1, 16, 256 }[random.nextInt(3)]);
        history = new LossesHistory("seed " + seed);
        cluster = new LossesCluster(directory, shape, this);
    }

    void run() throws Exception
    {
        System.out.println(this);
        try (cluster)
        {
            cluster.startAll(Long.toString(seed));
            note("all have started");
            try (LossesClients clients = new LossesClients(cluster.folder(), shape.copies(), history))
            {
                clients.start(random);
                final Thread filler = Thread.ofPlatform().daemon().start(this::fill);
                awaitMoreWrites(clients);
                for (int i = 0; i < rounds; i++)
                {
                    lose(clients, Settled.values()[random.nextInt(Settled.values().length)]);
                }
                settle(Settled.FILLED);
                isOver = true;
                clients.end();
                note("clients have ended");
                clients.readAll();
                note("failed " + clients.failures());
                filler.join(TimeUnit.SECONDS.toMillis(10));
            }
            check();
            cluster.onSound();
            System.out.println(this + "; " + history.callCount() + " calls, " + history.acknowledgedCount() +
                " writes acknowledged, " + history.count(EventType.INFO) + " of unknown outcome, " +
                history.count(EventType.FAIL) + " failed; " + cluster.group());
        }
    }

    private void check()
    {
        history.requireSound(this);
        final CommandLines.Result result = cluster.command("table", "check", "--all");
        assertThat(result.out()).as("%s: %s", this, result.err()).contains("SOUND: every invariant holds");
        note("checked");
    }

    /** Losses, until the cluster has got over them so far as the next ones may come. */
    private void lose(final LossesClients clients, final Settled settled)
    {
        final Group before = active();
        final List<Loss> losses = losses(before);
        final int pauseMs = random.nextInt(MOST_PAUSE_MS);
        final boolean waits = random.nextBoolean();
        note(before + ": " + losses);
        final List<CompletableFuture<Void>> goOn = take(losses);
        pause(pauseMs);
        // Memory of members is freed when others have all that they had, and at no other time.
        final List<String> dead = new ArrayList<>();
        losses.stream().filter((loss) -> Return.GOES_ON != loss.how && !loss.loses())
            .forEach((loss) -> dead.add(loss.name));
        cluster.start(dead.stream().filter((name) -> name.startsWith(META)).toList());
        dead.removeIf((name) -> name.startsWith(META));
        if (!waits)
        {
            cluster.start(dead);
        }
        for (final Loss loss : losses)
        {
            if (loss.loses())
            {
                final int id = cluster.nodeId(loss.name);
                cluster.await("a view without " + loss.name + " is active", () ->
                    cluster.group() instanceof final Group group && group.isActive() &&
                    !group.members().contains(id) && (null == group.entering() || id != group.entering()));
                cluster.loseMemory(loss.name, Return.AS_ANOTHER_ONE == loss.how);
            }
        }
        note("meta servers are started, memory is freed: " + cluster.group());
        goOn.forEach(CompletableFuture::join);
        // Stopped compute nodes are ended by memory nodes in which they stand.
        cluster.startDead();
        note("all are started again");
        settle(settled);
        awaitMoreWrites(clients);
    }

    /** A view closes by itself, too, when nodes had no meta server for longer than their leases. */
    private Group active()
    {
        final AtomicReference<Group> active = new AtomicReference<>();
        cluster.await("a view is active", () ->
        {
            active.set(cluster.group());
            return null != active.get() && active.get().isActive();
        });
        return active.get();
    }

    private List<CompletableFuture<Void>> take(final List<Loss> losses)
    {
        final List<CompletableFuture<Void>> goOn = new ArrayList<>();
        final long sinceNs = System.nanoTime();
        for (final Loss loss : losses.stream().sorted((a, b) -> a.delayMs - b.delayMs).toList())
        {
            pause((int)Math.max(0, loss.delayMs - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sinceNs)));
            final boolean isStop = Return.GOES_ON == loss.how;
            cluster.signal(loss.name, isStop ? "STOP" : "KILL");
            if (isStop)
            {
                goOn.add(CompletableFuture.runAsync(() -> cluster.signal(loss.name, "CONT"),
                    CompletableFuture.delayedExecutor(loss.lengthMs, TimeUnit.MILLISECONDS)));
            }
        }
        losses.stream().filter((loss) -> Return.GOES_ON != loss.how)
            .forEach((loss) -> cluster.awaitEnd(loss.name));
        return goOn;
    }

    /** Fewer members than there are, and fewer compute nodes, one at least of all. */
    private List<Loss> losses(final Group group)
    {
        final boolean isAtOnce = random.nextBoolean();
        final List<Loss> losses = new ArrayList<>();
        final List<Entry> memory = shuffled(MEMORY);
        final int most = group.members().size() - 1;
        int members = most > 0 && 0 < random.nextInt(5) ? 1 + random.nextInt(most) : 0;
        for (final Entry entry : memory)
        {
            final boolean isMember = group.members().contains(cluster.nodeId(entry.name()));
            if (isMember ? members-- > 0 : 0 == random.nextInt(3))
            {
                losses.add(loss(entry, isAtOnce, true));
            }
        }
        final List<Entry> compute = shuffled(COMPUTE);
        final int nodes = random.nextBoolean() ? 1 + random.nextInt(compute.size() - 1) : 0;
        compute.subList(0, nodes).forEach((entry) -> losses.add(loss(entry, isAtOnce, false)));
        if (losses.isEmpty() || random.nextBoolean())
        {
            final List<Entry> meta = cluster.all(META);
            final int leader = Math.max(0, cluster.leader());
            final int first = random.nextBoolean() ? leader : random.nextInt(meta.size());
            final boolean areAll = 0 == random.nextInt(3);
            for (int i = 0; i < meta.size(); i++)
            {
                if (areAll || first == i)
                {
                    losses.add(new Loss(meta.get(i).name(), delayMs(isAtOnce), Return.WITH_MEMORY, 0));
                }
            }
        }
        return losses;
    }

    private List<Entry> shuffled(final String prefix)
    {
        final List<Entry> entries = new ArrayList<>(cluster.all(prefix));
        Collections.shuffle(entries, random);
        return entries;
    }

    private int delayMs(final boolean isAtOnce)
    {
        final int delayMs = random.nextInt(MOST_DELAY_MS);
        return isAtOnce ? 0 : delayMs;
    }

    private Loss loss(final Entry entry, final boolean isAtOnce, final boolean isMemory)
    {
        final int choice = random.nextInt(8);
        final Return how = choice < 2 ? Return.GOES_ON : !isMemory || choice < 5 ? Return.WITH_MEMORY :
            choice < 6 ? Return.WITHOUT_MEMORY : Return.AS_ANOTHER_ONE;
        return new Loss(entry.name(), delayMs(isAtOnce), how,
            LEAST_STOP_MS + random.nextInt(MOST_STOP_MS - LEAST_STOP_MS));
    }

    private void settle(final Settled settled)
    {
        cluster.await(settled.toString(), () ->
        {
            if (!(cluster.group() instanceof final Group group) || !group.isActive())
            {
                return false;
            }
            final boolean isFull = shape.copies() == group.members().size();
            return switch (settled)
            {
                case FILLED -> isFull && !group.isFilling();
                case FILLING -> isFull || group.isFilling();
                case ACTIVE -> true;
            };
        });
        note(settled + ": " + cluster.group());
    }

    /** As an operator does, where nobody comes in by itself. */
    private void fill()
    {
        int next = 0;
        while (0 == shape.fillAfterSeconds() && !isOver)
        {
            pause(100);
            final List<Entry> memory = cluster.all(MEMORY);
            final String name = memory.get(next++ % memory.size()).name();
            if (cluster.group() instanceof final Group group && group.isActive() && !group.isFilling() &&
                group.members().size() < shape.copies() && !group.members().contains(cluster.nodeId(name)))
            {
                cluster.command("node", "fill", Integer.toString(cluster.nodeId(name)));
            }
        }
    }

    private void awaitMoreWrites(final LossesClients clients)
    {
        final long before = history.acknowledgedCount();
        cluster.await("writes are acknowledged", () ->
        {
            clients.requireWell();
            return history.acknowledgedCount() >= before + MORE_WRITES;
        });
    }

    private static void pause(final int ms)
    {
        final long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
        while (endNs - System.nanoTime() > 0)
        {
            LockSupport.parkNanos(endNs - System.nanoTime());
        }
    }

    private void note(final String what)
    {
        done.add(String.format(Locale.ROOT, "%n  %.1f s ", (System.nanoTime() - startNs) / 1e9) + what);
    }

    @Override
    public String toString()
    {
        return "seed " + seed + ": " + shape + done;
    }
}
