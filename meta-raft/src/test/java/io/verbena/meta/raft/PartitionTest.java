package io.verbena.meta.raft;

import io.verbena.meta.store.DurableWriteError;
import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaCommand;
import io.verbena.meta.store.StoredTable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import static io.verbena.meta.raft.TestMembers.CLOCK;
import static io.verbena.meta.raft.TestMembers.MEMBERS;
import static org.assertj.core.api.Assertions.assertThat;

/** Three members with the log as it is, whose leader is cut off from the others. */
@Timeout(240)
class PartitionTest
{
    @TempDir
    private Path directory;
    private TestMembers members;

    @BeforeEach
    void startAll()
    {
        members = new TestMembers(directory, MEMBERS);
        members.useLinks();
        members.startNewGroup();
    }

    @AfterEach
    void closeAll()
    {
        members.close();
    }

    private static MetaBatch table(final String name)
    {
        return new MetaBatch().table(new StoredTable(name, 1, new byte[100]));
    }

    /** Polls all, and sees that no two hold a lease; the one that does, 0: none. */
    private int holder()
    {
        for (int place = 1; place <= MEMBERS; place++)
        {
            members.leadership(place).poll(CLOCK.nanoTime());
        }
        final int[] holders = IntStream.rangeClosed(1, MEMBERS).filter((place) -> members.leadership(place).isHeld())
            .toArray();
        assertThat(holders).as("members with a lease").hasSizeLessThanOrEqualTo(1);
        return 0 == holders.length ? 0 : holders[0];
    }

    /** As soon as another one than the leader that is cut off has a lease that lasts until it is written; its place. */
    private int writeBesides(final int leader, final MetaBatch batch)
    {
        final int[] writer = {0};
        TestMembers.await(() ->
        {
            final int holder = holder();
            if (0 != holder && holder != leader)
            {
                try
                {
                    members.store(holder).write(batch);
                    writer[0] = holder;
                }
                catch (final DurableWriteError ex)
                {
                    // On a busy machine its lease may have ended by then, and another one leads.
                }
            }
            return 0 != writer[0];
        });
        return writer[0];
    }

    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true"})
    void shouldLetAnotherOneLeadWhenTheLeaderIsCutOff(final boolean sendsNothing, final boolean hearsNothing)
    {
        final int leader = members.leader();
        for (int other = 1; other <= MEMBERS; other++)
        {
            if (other != leader && sendsNothing)
            {
                members.links().cut(leader, other);
            }
            if (other != leader && hearsNothing)
            {
                members.links().cut(other, leader);
            }
        }
        final CompletableFuture<Boolean> unknown = members.get(leader).append(
            MetaCommand.write(members.leadership(leader).number(), table("unknown")));
        final int next = writeBesides(leader, table("acknowledged"));
        assertThat(members.leadership(leader).isHeld()).isFalse();

        members.links().restoreAll();
        TestMembers.await(() -> members.get(leader).stat().leader().equals(members.get(next).stat().leader()) &&
            members.get(leader).stat().appliedIndex() == members.get(next).stat().appliedIndex());
        assertThat(members.state(leader).tables()).extracting(StoredTable::name).contains("acknowledged");
        assertThat(members.state(leader).tables()).hasSameSizeAs(members.state(next).tables());
        assertThat(unknown.isDone() && !unknown.isCompletedExceptionally() && unknown.join() && members.state(next)
            .tables().stream().noneMatch((table) -> table.name().equals("unknown"))).as("acknowledged, and lost")
            .isFalse();
        members.write(table("afterwards"));
    }
}
