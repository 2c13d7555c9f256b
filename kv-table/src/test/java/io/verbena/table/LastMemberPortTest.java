package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.growth.SubtableWork;
import io.verbena.table.mirror.LastMemberPort;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** Words that only rounds over several members write: read by a port of the last member, refused by one of one copy. */
class LastMemberPortTest
{
    private static final int TABLE_AT = 4096;
    private static final int FIRST = 512 * 1024;
    private static final int SECOND = FIRST + (int)SubtableDescriptor.lengthBytes(1);
    private static final int MERGED = SECOND + (int)SubtableDescriptor.lengthBytes(1);
    private static final long NEVER_NS = Long.MAX_VALUE / 2;
    private final EngineFixture fixture = EngineFixture.single();
    private final OpenTable table = fixture.createTable(0, 1);

    @AfterEach
    void tearDown()
    {
        fixture.close();
    }

    private void connect(final boolean isOfGroup)
    {
        fixture.engine.detach(EngineFixture.NODE);
        final OneSidedPort port = fixture.fabric.connect(EngineFixture.NODE, fixture.engine::onBatchComplete);
        fixture.engine.attach(EngineFixture.NODE, isOfGroup ? new LastMemberPort(port) : port);
    }

    private void withdraw(final int subtable)
    {
        fixture.memory().putLong(subtable + SubtableDescriptor.SPLIT_OFFSET,
            MergeLink.withdrawn(SlotWord.emptied(2, 5)), LITTLE_ENDIAN);
    }

    private void run(final SubtableWork work, final boolean isDone)
    {
        while (!work.isFinished())
        {
            fixture.engine.poll();
            fixture.fabric.step();
        }
        assertThat(work.toString()).contains(isDone ? "state=DONE" : "a link that is damaged");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldSplitWhereAProposalWasTakenBack(final boolean isOfGroup)
    {
        connect(isOfGroup);
        withdraw(TABLE_AT);
        run(fixture.engine.growth().begin(table, 0, FIRST, SECOND, NEVER_NS), isOfGroup);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldMergeWhereProposalsWereTakenBack(final boolean isOfGroup)
    {
        connect(isOfGroup);
        run(fixture.engine.growth().begin(table, 0, FIRST, SECOND, NEVER_NS), true);
        withdraw(FIRST);
        withdraw(SECOND);
        run(fixture.engine.growth().beginMerge(table, 0, MERGED, NEVER_NS), isOfGroup);
    }

    /** It comes between the look and the proposal, as in a view with several members. */
    @Test
    void shouldGoOnWhereAProposalComesAndGoes()
    {
        connect(true);
        final SubtableWork split = fixture.engine.growth().begin(table, 0, FIRST, SECOND, NEVER_NS);
        while (!split.toString().contains("phase=LINK"))
        {
            fixture.engine.poll();
            fixture.fabric.step();
        }
        withdraw(TABLE_AT);
        run(split, true);
        assertThat(split.usesGivenMemory()).isTrue();
    }

    @Test
    void shouldReadAndWrite()
    {
        connect(true);
        fixture.put(table, "key", "value");
        assertThat(fixture.get(table, "key").value()).isEqualTo("value");
    }
}
