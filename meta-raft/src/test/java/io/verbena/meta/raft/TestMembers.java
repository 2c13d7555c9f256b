package io.verbena.meta.raft;

import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaCounters;
import io.verbena.meta.store.MetaState;
import io.verbena.test.UnusedPorts;
import org.agrona.CloseHelper;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Members of one group in this process, with the log as it is, for tests: the first three are those of a new group,
 * others join. Each has a folder and a port of its own. Closed by the test, with all members. Used by one thread.
 */
final class TestMembers implements AutoCloseable
{
    static final GroupKey GROUP = new GroupKey(new UUID(1, 2), new byte[16]);
    static final int MEMBERS = 3;
    static final NanoClock CLOCK = SystemNanoClock.INSTANCE;
    private static final long LEASE_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long WRITE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(100);

    private final Path directory;
    private final List<String> addresses = new ArrayList<>();
    private final Map<Integer, RaftMember> members = new TreeMap<>();
    private final Map<Integer, Leadership> leaderships = new TreeMap<>();
    private int snapshotEntries = 1_000;
    private String segment = "1MB";
    /** Null: members reach each other without them. */
    private MemberLinks links;

    /**
     * @param directory of their folders.
     * @param places    for how many members; those behind the third are for some that join.
     */
    TestMembers(final Path directory, final int places)
    {
        this.directory = directory;
        while (addresses.size() < places)
        {
            final String address = "127.0.0.1:" + UnusedPorts.next();
            if (!addresses.contains(address))
            {
                addresses.add(address);
            }
        }
    }

    /** Small files of the log, which are freed with a snapshot every so many entries. For members started later. */
    void useSmallLogs(final int entriesUntilSnapshot)
    {
        snapshotEntries = entriesUntilSnapshot;
        segment = "4KB";
    }

    /** All that members send each other passes links that can be cut. For members started later. */
    void useLinks()
    {
        links = new MemberLinks(addresses.subList(0, MEMBERS));
    }

    MemberLinks links()
    {
        return links;
    }

    List<String> addresses()
    {
        return addresses;
    }

    Path folder(final int place)
    {
        return directory.resolve("m" + place);
    }

    GroupOptions options(final int place, final boolean isNew)
    {
        return new GroupOptions(GROUP, place, null == links ? addresses.subList(0, MEMBERS) : links.seenBy(place),
            folder(place), isNew);
    }

    void start(final int place, final boolean isNew)
    {
        start(place, options(place, isNew));
    }

    /** Returns its name. */
    String join(final int place)
    {
        return start(place, GroupOptions.join(GROUP, addresses.get(place - 1), folder(place)));
    }

    private String start(final int place, final GroupOptions options)
    {
        final RaftMember member = RaftMember.open(options, snapshotEntries, segment);
        members.put(place, member);
        leaderships.put(place, new Leadership(member, member.name(), CLOCK, LEASE_NS));
        return member.name();
    }

    void startAll(final boolean isNew)
    {
        for (int place = 1; place <= MEMBERS; place++)
        {
            start(place, isNew);
        }
    }

    /** A new group, whose members all have the first records. */
    void startNewGroup()
    {
        startAll(true);
        write(new MetaBatch().counters(MetaCounters.initial(7)));
        for (int place = 1; place <= MEMBERS; place++)
        {
            awaitTables(place, 0);
        }
    }

    void stop(final int place)
    {
        leaderships.remove(place);
        members.remove(place).close();
    }

    void stopAll()
    {
        List.copyOf(members.keySet()).forEach(this::stop);
    }

    RaftMember get(final int place)
    {
        return members.get(place);
    }

    Leadership leadership(final int place)
    {
        return leaderships.get(place);
    }

    MetaState state(final int place)
    {
        return members.get(place).state().load();
    }

    static void await(final BooleanSupplier condition)
    {
        final long sinceNs = CLOCK.nanoTime();
        while (!condition.getAsBoolean())
        {
            assertThat(CLOCK.nanoTime() - sinceNs).as("time until it holds").isLessThan(DEADLINE_NS);
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** Place of the member that leads, as soon as one does. */
    int leader()
    {
        final int[] leader = {0};
        await(() ->
        {
            leaderships.forEach((place, leadership) ->
            {
                leadership.poll(CLOCK.nanoTime());
                leader[0] = leadership.isHeld() ? place : leader[0];
            });
            return 0 != leader[0];
        });
        return leader[0];
    }

    GroupMetaStore store(final int place)
    {
        return new GroupMetaStore(members.get(place), leaderships.get(place), CLOCK, WRITE_NS);
    }

    /** By whoever leads. */
    void write(final MetaBatch batch)
    {
        store(leader()).write(batch);
    }

    void awaitTables(final int place, final int count)
    {
        await(() -> !get(place).state().isEmpty() && state(place).tables().size() == count);
    }

    /** Index of the first entry that is still in its log, -1 where there is none: files are log_FIRST-LAST. */
    long logBeginsAt(final int place)
    {
        try (Stream<Path> files = Files.walk(folder(place)))
        {
            return files.map((file) -> file.getFileName().toString()).filter((file) -> file.startsWith("log_"))
                .mapToLong((file) -> Long.parseLong(file.substring(4).replace("inprogress_", "").split("-")[0]))
                .min().orElse(-1);
        }
        catch (final IOException | UncheckedIOException ex)
        {
            return -1; // a file went away meanwhile
        }
    }

    @Override
    public void close()
    {
        CloseHelper.quietCloseAll(members.values());
        CloseHelper.quietClose(links);
    }
}
