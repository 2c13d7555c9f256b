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

    private ControlTasks tasks()
    {
        final UnexpectedFailures failures = new UnexpectedFailures(rig.meta.world.clock());
        final TableRegistry tables =
            new TableRegistry(rig.meta.link, rig.engine::openTable, () -> 0, SECOND_NS, failures);
        final ControlTasks tasks = new ControlTasks(new TableTasks(rig.parts, tables, rig.links(), rig.chunks,
            (table, newestLease) -> { }, new SplittableRandom(1), false), failures);
        rig.meta.run(tasks::poll);
        return tasks;
    }

    private Request create(final ControlTasks tasks)
    {
        final Request request = new Request(rig.meta.nowNs() + SECOND_NS);
        request.queue();
        tasks.accept(request, rig.meta.nowNs());
        return request;
    }

    /** As when a node registers anew, after a change of the leader of the meta servers, before its memory nodes do. */
    @Test
    void shouldWaitForAMemoryNodeToBeReached()
    {
        rig.meta.refuse("table", ControlStatus.NO_SUCH_TABLE);
        rig.refuse("stat", ControlStatus.FORBIDDEN);
        final Request request = create(tasks());
        rig.meta.runFor(SECOND_NS / 2);
        assertThat(request.state()).isNotEqualTo(NodeRequest.DONE);
        rig.reach();
        rig.meta.runUntil(() -> NodeRequest.DONE == request.state());
        assertThat(rig.count("stat")).as("the memory node was asked").isEqualTo(1);
    }

    /** It pauses as one does that was just cut off by the memory node, which is on its way to another lease. */
    @Test
    void shouldGoOnWhenTheConnectionToAMemoryNodeBreaks()
    {
        rig.meta.refuse("table", ControlStatus.NO_SUCH_TABLE);
        rig.reach();
        rig.stop();
        final Request request = create(tasks());
        rig.meta.runFor(SECOND_NS / 4);
        assertThat(request.state()).isNotEqualTo(NodeRequest.DONE);
        rig.start();
        rig.register(2);
        rig.refuse("stat", ControlStatus.FORBIDDEN);
        rig.meta.runUntil(() -> NodeRequest.DONE == request.state());
        assertThat(rig.count("stat")).as("the memory node was asked").isEqualTo(1);
    }

    @Test
    void shouldSayAtItsDeadlineWhyNoMemoryNodeCouldBeReached()
    {
        rig.meta.refuse("table", ControlStatus.NO_SUCH_TABLE);
        final ControlTasks tasks = tasks();
        final Request unregistered = create(tasks);
        final long beganNs = rig.meta.nowNs();
        rig.meta.runUntil(() -> NodeRequest.DONE == unregistered.state());
        assertThat(rig.meta.nowNs() - beganNs).isGreaterThanOrEqualTo(SECOND_NS);
        assertThat(unregistered.status()).isEqualTo(ControlRequest.Status.TIMED_OUT);
        assertThat(unregistered.detail()).isEqualTo("no memory node is connected: none is registered");
        rig.connect();
        final Request unreachable = create(tasks);
        rig.meta.runUntil(() -> NodeRequest.DONE == unreachable.state());
        assertThat(unreachable.status()).isEqualTo(ControlRequest.Status.TIMED_OUT);
        assertThat(unreachable.detail()).isEqualTo("no memory node is connected: memory node 2: " +
            "memory node is not registered: nodeId=2");
    }

    @Test
    void shouldAskForMemoryAFewTimesASecondUntilItsDeadline()
    {
        rig.reach();
        rig.meta.refuse("table", ControlStatus.NO_SUCH_TABLE);
        rig.answer("stat", (arguments) -> new MemoryNodeStat(
            MemoryRig.CHUNKS * MemoryRig.CHUNK_BYTES, MemoryRig.CHUNK_BYTES, MemoryRig.CHUNKS, 0, 4, 0, 0));
        rig.refuse("leaseChunks", ControlStatus.EXHAUSTED);
        final ControlTasks tasks = tasks();
        final Request request = create(tasks);
        rig.meta.runUntil(() -> NodeRequest.DONE == request.state());
        assertThat(request.status()).isEqualTo(ControlRequest.Status.NO_MEMORY);
        assertThat(rig.count("leaseChunks")).as("in one second").isBetween(8L, 24L);
        assertThat(tasks.isEmpty()).isTrue();
        assertThat(rig.returns.isEmpty()).as("nothing was leased").isTrue();
    }
}
