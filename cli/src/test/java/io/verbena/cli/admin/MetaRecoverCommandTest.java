package io.verbena.cli.admin;

import io.verbena.cli.CommandLines;
import io.verbena.cli.CommandLines.Result;
import io.verbena.cli.console.ExitStatus;
import io.verbena.meta.raft.GroupMetaStore;
import io.verbena.meta.raft.GroupKey;
import io.verbena.meta.raft.GroupOptions;
import io.verbena.meta.raft.Leadership;
import io.verbena.meta.raft.RaftMember;
import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaCounters;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.RocksMetaStore;
import io.verbena.meta.store.StoredTable;
import io.verbena.server.MetaGroupRole;
import io.verbena.server.MetaServerRole;
import io.verbena.test.UnusedPorts;

import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import static org.assertj.core.api.Assertions.assertThat;

/** What is left of a group becomes the folder of a single meta server. */
@Timeout(240)
class MetaRecoverCommandTest
{
    private static final NanoClock CLOCK = SystemNanoClock.INSTANCE;
    private static final MetaCounters COUNTERS = new MetaCounters(7, 20, 65_000, 5, 300, 40, 6);

    @TempDir
    private Path directory;

    private static Result run(final Object... arguments)
    {
        final List<String> all = new ArrayList<>(List.of("meta", "recover"));
        for (final Object argument : arguments)
        {
            all.add(argument.toString());
        }
        return CommandLines.run(all);
    }

    /** The data folder of the member of a group of one. */
    private Path member(final String name, final long clusterId, final String... tables) throws IOException
    {
        final Path data = directory.resolve(name);
        final String address = "127.0.0.1:" + UnusedPorts.next();
        try (RaftMember member = RaftMember.open(
            new GroupOptions(new GroupKey(new UUID(1, 2), new byte[16]), 1, List.of(address),
                data.resolve(MetaGroupRole.FOLDER), true)))
        {
            final Leadership leadership =
                new Leadership(member, member.name(), CLOCK, TimeUnit.MILLISECONDS.toNanos(500));
            while (!leadership.isHeld())
            {
                leadership.poll(CLOCK.nanoTime());
                LockSupport.parkNanos(1_000_000);
            }
            final GroupMetaStore store = new GroupMetaStore(member, leadership, CLOCK, TimeUnit.SECONDS.toNanos(60));
            store.write(new MetaBatch().counters(new MetaCounters(clusterId, COUNTERS.nextIncarnation(),
                COUNTERS.nextNodeId(), COUNTERS.nextWriterNumber(), COUNTERS.epochCeiling(),
                COUNTERS.membershipVersion(), COUNTERS.nextTableId())));
            for (final String table : tables)
            {
                store.write(new MetaBatch().table(new StoredTable(table, 1, new byte[100])));
            }
        }
        return data;
    }

    @Test
    void shouldSayWhatIsThereAndWriteItWhenForced() throws IOException
    {
        final Path data = member("m1", 7, "a", "b");
        final Path to = directory.resolve("new");
        final Result account = run(data, "--to", to);
        assertThat(account.status()).as(account.err()).isEqualTo(ExitStatus.FAILED);
        assertThat(account.err()).isEmpty();
        assertThat(account.out()).contains(data.toString(), "LAST ENTRY", "is lost", "Nothing was written");
        assertThat(to).doesNotExist();

        final Result written = run(data, "--to", to, "--force");
        assertThat(written.status()).as(written.err()).isEqualTo(ExitStatus.OK);
        assertThat(written.out()).contains("incarnations go on with 1000020", "tables with 1000006",
            "epochs with 1000300", "./verbena meta-server --data " + to);
        try (RocksMetaStore store = RocksMetaStore.open(to.resolve(MetaServerRole.FOLDER)))
        {
            final MetaState state = store.load();
            assertThat(state.tables()).extracting(StoredTable::name).containsExactly("a", "b");
            // Numbers of nodes and writers are places in a ring of 65,535.
            assertThat(state.counters()).isEqualTo(
                new MetaCounters(7, 1_000_020, 65_000 + 8_192 - 65_535, 8_197, 1_000_300, 1_000_040, 1_000_006));
        }

        final Result again = run(data, "--to", to, "--force");
        assertThat(again.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(again.err()).contains("--to " + to + " has something ('meta')").hasLineCount(1);
        assertThat(run(data, "--to", data, "--force").err()).contains("has something ('meta-group')").hasLineCount(1);
        final Path file = Files.writeString(directory.resolve("file"), "");
        assertThat(run(data, "--to", file, "--force").err()).contains("is no folder that can be used").hasLineCount(1);
    }

    @Test
    void shouldTakeTheLatestFolder() throws IOException
    {
        final Path early = member("m1", 7, "a");
        final Path late = member("m2", 7, "a", "b", "c");
        final Path to = directory.resolve("new");
        final Result written = run(early, late, "--to", to, "--force");
        assertThat(written.status()).as(written.err()).isEqualTo(ExitStatus.OK);
        assertThat(written.out()).contains(early.toString(), " in " + late);
        try (RocksMetaStore store = RocksMetaStore.open(to.resolve(MetaServerRole.FOLDER)))
        {
            assertThat(store.load().tables()).hasSize(3);
        }
    }

    @Test
    void shouldRefuseFoldersOfTwoClustersAndWhatIsNone() throws IOException
    {
        final Path one = member("m1", 7, "a");
        final Path other = member("m2", 8, "a");
        final Path to = directory.resolve("new");
        final Result two = run(one, other, "--to", to, "--force");
        assertThat(two.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(two.err()).contains(one.toString(), other.toString(), "two clusters").hasLineCount(1);
        final Result none = run(directory.resolve("none"), "--to", to, "--force");
        assertThat(none.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(none.err()).contains("no log of a member").hasLineCount(1);
        assertThat(run("--to", to).status()).isEqualTo(ExitStatus.USAGE);
        assertThat(run(one).err()).contains("--to").doesNotContain("Exception");
        assertThat(to).doesNotExist();
    }
}
