package io.verbena.compute.catalog;

import io.verbena.compute.MetaRig;
import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Operations that wait for tables which are not open, of users some of which name tables that are made up. */
class TableRegistryTest
{
    private static final long LONG_NS = 1_000_000_000;

    private static final class Asked extends OperationRequest
    {
        private Asked(final String table, final long deadlineNs)
        {
            ask(RequestKind.GET, new TableReference(table, 7), new byte[1], null, 0, deadlineNs);
        }

        @Override
        protected void onDone()
        {
            // polled
        }
    }

    private record Ended(OperationRequest request, Object holder, OperationAnswer answer)
    {
    }

    private final MetaRig rig = new MetaRig();
    private final TableRegistry tables = new TableRegistry(rig.link, (descriptor) -> null, () -> 0, LONG_NS,
        new UnexpectedFailures(rig.world.clock()));
    private final List<Ended> ended = new ArrayList<>();
    private final TableRegistry.Waiters waiters = new TableRegistry.Waiters()
    {
        @Override
        public void onOpen(final OperationRequest request, final Object holder)
        {
            throw new AssertionError("there is no table");
        }

        @Override
        public void onFailure(
            final OperationRequest request, final Object holder, final OperationAnswer answer, final String detail)
        {
            ended.add(new Ended(request, holder, answer));
        }
    };

    TableRegistryTest()
    {
        rig.registered();
        rig.refuse("table", ControlStatus.NO_SUCH_TABLE);
    }

    @AfterEach
    void close()
    {
        rig.close();
    }

    private Asked await(final String holder, final String table, final long timeoutNs)
    {
        final Asked asked = new Asked(table, rig.nowNs() + timeoutNs);
        tables.await(asked, holder, rig.nowNs());
        return asked;
    }

    private void run()
    {
        rig.run((nowNs) -> tables.poll(waiters, nowNs));
    }

    @Test
    void shouldLeaveCallsToTheLeaseHoweverManyTablesAreMadeUp()
    {
        rig.silent(true);
        for (int i = 0; i < 1_000; i++)
        {
            await("greedy", "made-up-" + i, LONG_NS);
        }
        run();
        rig.runFor(1_000_000);
        assertThat(rig.raas.rpcClient().outstandingCalls()).isEqualTo(TableRegistry.MAX_CALLS);
        rig.silent(false);
        rig.runUntil(() -> 1_000 == ended.size());
        assertThat(ended).allMatch((one) -> OperationAnswer.NO_SUCH_TABLE == one.answer());
        assertThat(rig.count("table")).isEqualTo(1_000);
        assertThat(tables.isWaiting()).isFalse();
    }

    @Test
    void shouldFetchTheTableOfWhoeverComesLateBehindOneTurnOfEach()
    {
        for (int i = 0; i < 500; i++)
        {
            await("greedy", "made-up-" + i, LONG_NS);
        }
        run();
        rig.runUntil(() -> ended.size() >= 16);
        final Asked quiet = await("quiet", "made-up-499", LONG_NS);
        rig.runUntil(() -> !ended.isEmpty() && quiet == ended.getLast().request());
        assertThat(ended).hasSizeLessThan(100);
        assertThat(ended.getLast().holder()).isEqualTo("quiet");
        rig.runUntil(() -> 501 == ended.size());
    }

    @Test
    void shouldAskOnceForAllOperationsOfOneThatNameTheSameTable()
    {
        await("a", "t", LONG_NS);
        await("a", "t", LONG_NS);
        await("b", "t", LONG_NS);
        await(null, "t", LONG_NS);
        run();
        rig.runUntil(() -> 4 == ended.size());
        assertThat(rig.count("table")).isEqualTo(3);
    }

    @Test
    void shouldKeepNothingBeyondItsDeadline()
    {
        rig.silent(true);
        for (int i = 0; i < TableRegistry.MAX_CALLS; i++)
        {
            await("greedy", "made-up-" + i, LONG_NS);
        }
        run();
        rig.runFor(1_000_000);
        final Asked quiet = await("quiet", "t", 3_000_000);
        final Asked greedy = await("greedy", "made-up-0", 3_000_000);
        rig.runFor(6_000_000);
        assertThat(ended).containsExactlyInAnyOrder(new Ended(quiet, "quiet", OperationAnswer.TIMED_OUT),
            new Ended(greedy, "greedy", OperationAnswer.TIMED_OUT));
        assertThat(tables.wantedCount()).isEqualTo(TableRegistry.MAX_CALLS);
        rig.silent(false);
        rig.runUntil(() -> !tables.isWaiting());
        assertThat(ended).hasSize(TableRegistry.MAX_CALLS + 2);
        assertThat(rig.count("table")).as("nobody waits for the table").isEqualTo(TableRegistry.MAX_CALLS);
    }

    @Test
    void shouldEndAllWaitingWhenTheNodeStops()
    {
        for (int i = 0; i < 40; i++)
        {
            await("greedy", "made-up-" + i, LONG_NS);
        }
        tables.close(waiters);
        assertThat(ended).hasSize(40).allMatch((one) -> OperationAnswer.NOT_SERVING == one.answer());
        assertThat(tables.poll(waiters, rig.nowNs())).isZero();
    }
}
