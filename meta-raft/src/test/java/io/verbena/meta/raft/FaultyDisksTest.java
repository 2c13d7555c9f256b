package io.verbena.meta.raft;

import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaCommand;
import io.verbena.meta.store.StoredTable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import static io.verbena.meta.raft.TestMembers.CLOCK;
import static io.verbena.meta.raft.TestMembers.MEMBERS;
import static org.assertj.core.api.Assertions.assertThat;

/** Three members with the log as it is, the disk of one of which fails or is slow. */
@Timeout(240)
class FaultyDisksTest
{
    private static final String FULL = "No space left on device";
    private static final String BROKEN = "Input/output error";

    @TempDir
    private Path directory;
    private TestMembers members;
    private FaultyDisks disks;
    private int tables;

    @BeforeEach
    void startAll()
    {
        members = new TestMembers(directory, MEMBERS);
        members.useSmallLogs(1_000);
        disks = new FaultyDisks();
        members.startNewGroup();
    }

    @AfterEach
    void closeAll()
    {
        disks.close();
        members.close();
    }

    private static StoredTable table(final int number)
    {
        return new StoredTable("t" + number, number, new byte[500]);
    }

    /** By whoever leads; acknowledged when this returns. */
    private void write()
    {
        tables++;
        members.write(new MetaBatch().table(table(tables)));
    }

    private void awaitStop(final int place, final String why)
    {
        TestMembers.await(() -> !members.get(place).failure().isEmpty());
        assertThat(members.get(place).failure()).contains("the log cannot be written", why);
        assertThat(members.get(place).isRemoved()).as("stopped, not removed").isFalse();
        assertThat(members.get(place).mayLead()).isFalse();
    }

    private void assertAllThereAfterARestart(final int place)
    {
        members.stop(place);
        write();
        members.start(place, false);
        members.awaitTables(place, tables);
    }

    private int follower()
    {
        return members.leader() % MEMBERS + 1;
    }

    /** The next sync would succeed, and what the failed one was to write is nowhere: so there is no next one. */
    @Test
    void shouldStopForGoodAtAFollowerWhoseSyncFails()
    {
        final int follower = follower();
        disks.failSync(follower, BROKEN);
        write();
        awaitStop(follower, BROKEN);
        final long applied = members.get(follower).stat().appliedIndex();
        write();
        write();
        assertThat(members.get(follower).stat().appliedIndex()).isEqualTo(applied);
        assertAllThereAfterARestart(follower);
    }

    @Test
    void shouldLetAnotherOneLeadWhenTheSyncOfTheLeaderFails()
    {
        write();
        final int leader = members.leader();
        disks.failSync(leader, BROKEN);
        // Whether the others have it is not known: written again below it is there.
        members.get(leader).append(
            MetaCommand.write(members.leadership(leader).number(), new MetaBatch().table(table(tables + 1))));
        awaitStop(leader, BROKEN);
        TestMembers.await(() ->
        {
            members.leadership(leader).poll(CLOCK.nanoTime());
            return !members.leadership(leader).isHeld();
        });
        write();
        assertThat(members.leader()).isNotEqualTo(leader);
        assertAllThereAfterARestart(leader);
    }

    /** A file of the log is full, and there is no room for the next one. */
    @Test
    void shouldSayThatTheDiskIsFullWhenTheNextFileOfTheLogCannotBeMade()
    {
        final int follower = follower();
        disks.failOpen(follower, FULL);
        for (int i = 0; i < 12; i++)
        {
            write();
        }
        awaitStop(follower, FULL);
        assertAllThereAfterARestart(follower);
    }

    /** As long as the library takes to give a write up that it waits for. */
    @Test
    void shouldGoOnWhileTheDiskOfAFollowerTakesTenSeconds() throws Exception
    {
        final int follower = follower();
        disks.hold(follower);
        write();
        disks.awaitHeld(follower);
        final long sinceNs = CLOCK.nanoTime();
        while (CLOCK.nanoTime() - sinceNs < TimeUnit.SECONDS.toNanos(10))
        {
            write();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
        }
        disks.goOn(follower);
        members.awaitTables(follower, tables);
        assertThat(members.get(follower).failure()).isEmpty();
    }

    /** The library commits nothing that the leader has not written, so another one has to lead. */
    @Test
    void shouldLetAnotherOneLeadWhileTheDiskOfTheLeaderStandsStill() throws Exception
    {
        write();
        final int leader = members.leader();
        disks.hold(leader);
        final CompletableFuture<Boolean> unknown = members.get(leader).append(
            MetaCommand.write(members.leadership(leader).number(), new MetaBatch().table(table(tables + 1))));
        disks.awaitHeld(leader);
        TestMembers.await(() -> members.leader() != leader);
        write();
        write();
        assertThat(unknown.isDone() && !unknown.isCompletedExceptionally()).as("answered before it is on its disk")
            .isFalse();
        disks.goOn(leader);
        members.awaitTables(leader, tables);
        assertThat(members.get(leader).failure()).isEmpty();
        assertThat(members.get(leader).stat().leader()).isEqualTo("meta-" + members.leader());
    }
}
