package io.verbena.compute.growth;

import io.verbena.compute.MemoryRig;
import io.verbena.compute.group.KnownLeases;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.TableEntry;
import io.verbena.table.directory.Subtable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.growth.TableGrowth;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class GrowthPublisherTest
{
    private static final long SECOND_NS = 1_000_000_000;
    private static final long LONGEST_PAUSE_NS = 160_000_000;

    private final MemoryRig rig = new MemoryRig();
    private final TableDescriptor table = descriptor(0);
    private final List<Subtable> retired = new ArrayList<>();
    private final GrowthPublisher publisher;

    GrowthPublisherTest()
    {
        rig.reach();
        publisher = new GrowthPublisher(rig.chunks, (name, subtables, known) -> retired.addAll(subtables), rig.parts,
            table, MemoryRig.MEMORY_NODE, KnownLeases.NONE,
            (published) -> new TableGrowth(descriptor(1), Subtable.of(table)));
        rig.meta.answer("table", (arguments) -> new TableEntry("users", 1, table.encode()));
        rig.meta.answer("growTable", (arguments) -> null);
    }

    private static TableDescriptor descriptor(final int chunk)
    {
        final TablePlan plan =
            TablePlan.forRecords("users", 1, 1, 100, new int[]{MemoryRig.MEMORY_NODE}, MemoryRig.CHUNK_BYTES);
        plan.place(MemoryRig.MEMORY_NODE, MemoryRig.offset(chunk));
        return plan.descriptor();
    }

    @AfterEach
    void close()
    {
        rig.close();
    }

    private void run()
    {
        rig.meta.run(publisher::poll);
    }

    private boolean hasEnded()
    {
        return GrowthPublisher.Outcome.RUNNING != publisher.outcome();
    }

    @Test
    void shouldPublishAndGiveBackWhatWasReplaced()
    {
        run();
        rig.meta.runUntil(this::hasEnded);
        assertThat(publisher.outcome()).isEqualTo(GrowthPublisher.Outcome.PUBLISHED);
        assertThat(retired).isEqualTo(Subtable.of(table));
        assertThat(rig.meta.count("growTable")).isEqualTo(1);
    }

    @Test
    void shouldAskAMetaServerThatCannotAnswerAFewTimesASecond()
    {
        rig.meta.refuse("table", ControlStatus.UNAVAILABLE);
        run();
        rig.meta.runFor(SECOND_NS);
        assertThat(rig.meta.count("table")).as("in one second").isBetween(8L, 24L);
        rig.meta.answer("table", (arguments) -> new TableEntry("users", 1, table.encode()));
        rig.meta.runFor(LONGEST_PAUSE_NS + SECOND_NS / 100);
        assertThat(publisher.outcome()).isEqualTo(GrowthPublisher.Outcome.PUBLISHED);
    }

    @Test
    void shouldAskAMetaServerThatCannotWriteAFewTimesASecond()
    {
        rig.meta.refuse("growTable", ControlStatus.INVALID_REQUEST);
        run();
        rig.meta.runFor(SECOND_NS);
        assertThat(rig.meta.count("growTable")).as("in one second").isBetween(8L, 24L);
        assertThat(retired).isEmpty();
    }

    @Test
    void shouldAskAtOnceWhenSomebodyElseWasFaster()
    {
        final TableDescriptor other = descriptor(2);
        final long[] pauseNs = new long[1];
        rig.meta.answer("growTable", (arguments) ->
        {
            final long refusedNs = rig.meta.nowNs();
            rig.meta.answer("table", (ignored) ->
            {
                pauseNs[0] = rig.meta.nowNs() - refusedNs;
                return new TableEntry("users", 1, other.encode());
            });
            rig.meta.answer("growTable", (ignored) -> null);
            throw new ControlException(ControlStatus.INVALID_REQUEST, "another descriptor");
        });
        run();
        rig.meta.runUntil(this::hasEnded);
        assertThat(publisher.outcome()).isEqualTo(GrowthPublisher.Outcome.PUBLISHED);
        assertThat(pauseNs[0]).as("without a pause").isBetween(1L, 1_000_000L);
    }

    @Test
    void shouldGiveNothingBackWhileItIsUnknownWhetherItWasReplaced()
    {
        rig.meta.refuse("growTable", ControlStatus.MALFORMED_REPLY);
        run();
        rig.meta.runFor(SECOND_NS / 10);
        assertThat(retired).isEmpty();
        rig.meta.refuse("table", ControlStatus.NO_SUCH_TABLE);
        rig.meta.runUntil(this::hasEnded);
        assertThat(publisher.outcome()).isEqualTo(GrowthPublisher.Outcome.DROPPED);
        assertThat(retired).as("who dropped the table returns what it named").containsAll(Subtable.of(table));
    }
}
