package io.verbena.compute.control;

import io.verbena.compute.MemoryRig;
import io.verbena.compute.catalog.TableRegistry;
import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.MemoryNodeStat;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.NodeRequest;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;

class CreateTableTaskTest
{
    private static final long SECOND_NS = 1_000_000_000;

    private static final class Request extends ControlRequest
    {
        Request(final long deadlineNs)
        {
            super(Kind.CREATE_TABLE, "users", 10, deadlineNs);
        }

        @Override
        protected void onDone()
        {
        }
    }

    private final MemoryRig rig = new MemoryRig();

    @AfterEach
    void close()
    {
        rig.close();
    }

    @Test
    void shouldAskForMemoryAFewTimesASecondUntilItsDeadline()
    {
        rig.reach();
        rig.meta.refuse("table", ControlStatus.NO_SUCH_TABLE);
        rig.answer("stat", (arguments) -> new MemoryNodeStat(
            MemoryRig.CHUNKS * MemoryRig.CHUNK_BYTES, MemoryRig.CHUNK_BYTES, MemoryRig.CHUNKS, 0, 4, 0, 0));
        rig.refuse("leaseChunks", ControlStatus.EXHAUSTED);
        final UnexpectedFailures failures = new UnexpectedFailures(rig.meta.world.clock());
        final TableRegistry tables =
            new TableRegistry(rig.meta.link, rig.engine::openTable, () -> 0, SECOND_NS, failures);
        final ControlTasks tasks = new ControlTasks(new TableTasks(rig.parts, tables, rig.links(), rig.returns,
            (table, newestLease) -> { }, new SplittableRandom(1), false), failures);
        rig.meta.run(tasks::poll);
        final Request request = new Request(rig.meta.nowNs() + SECOND_NS);
        request.queue();
        tasks.accept(request, rig.meta.nowNs());

        rig.meta.runUntil(() -> NodeRequest.DONE == request.state());
        assertThat(request.status()).isEqualTo(ControlRequest.Status.NO_MEMORY);
        assertThat(rig.count("leaseChunks")).as("in one second").isBetween(8L, 24L);
        assertThat(tasks.isEmpty()).isTrue();
        assertThat(rig.returns.isEmpty()).as("nothing was leased").isTrue();
    }
}
