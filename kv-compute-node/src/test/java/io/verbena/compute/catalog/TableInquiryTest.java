package io.verbena.compute.catalog;

import io.verbena.compute.MetaRig;
import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.TableEntry;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

class TableInquiryTest
{
    private static final int MAX_CALLS = 16;
    private static final long SECOND_NS = 1_000_000_000;

    private final MetaRig rig = new MetaRig();
    private final List<String> taken = new ArrayList<>();
    private final Set<Integer> refusedByTaker = new HashSet<>();
    private long news = 4;
    private final TableInquiry<Integer> inquiry = new TableInquiry<>(rig.link, new TableRegistry(rig.link,
        (descriptor) -> null, () -> news, MetaRig.TIMEOUT_NS, new UnexpectedFailures(rig.world.clock())),
        MetaRig.TIMEOUT_NS, this::take);

    private boolean take(final Integer table, final TableEntry entry, final long askedNews)
    {
        taken.add(table + " " + (null == entry ? "none" : entry.name()) + " " + askedNews);
        return !refusedByTaker.remove(table);
    }

    @AfterEach
    void close()
    {
        rig.close();
    }

    private void runUntilDone()
    {
        rig.registered();
        rig.run(inquiry::poll);
        rig.runUntil(inquiry::isDone);
    }

    @Test
    void shouldTakeOneAnswerForEachTable()
    {
        rig.answer("table", (arguments) ->
        {
            if ("t2".equals(arguments[0]))
            {
                throw new ControlException(ControlStatus.NO_SUCH_TABLE, "dropped");
            }
            return new TableEntry((String)arguments[0], 1, new byte[8]);
        });
        for (int i = 0; i < 3 * MAX_CALLS; i++)
        {
            inquiry.add(i, "t" + i);
        }
        assertThat(inquiry.isDone()).isFalse();
        runUntilDone();
        assertThat(taken).hasSize(3 * MAX_CALLS).contains("0 t0 4", "2 none 4", "47 t47 4").doesNotHaveDuplicates();
        assertThat(rig.count("table")).isEqualTo(3 * MAX_CALLS);
        assertThat(inquiry.failure()).isEmpty();
    }

    /** The others are for heartbeats. */
    @Test
    void shouldMakeNoMoreCallsAtOnceThanItsShare()
    {
        rig.registered();
        for (int i = 0; i < 3 * MAX_CALLS; i++)
        {
            inquiry.add(i, "t" + i);
        }
        final int before = rig.raas.rpcClient().outstandingCalls();
        assertThat(inquiry.poll(rig.nowNs())).isEqualTo(MAX_CALLS);
        assertThat(inquiry.poll(rig.nowNs())).isZero();
        assertThat(rig.raas.rpcClient().outstandingCalls() - before).isEqualTo(MAX_CALLS);
    }

    @Test
    void shouldAskAgainAfterAPauseWhatWasNotAnswered()
    {
        rig.refuse("table", ControlStatus.UNAVAILABLE);
        inquiry.add(1, "users");
        rig.registered();
        rig.run(inquiry::poll);
        rig.runFor(SECOND_NS);
        assertThat(rig.count("table")).as("in one second").isBetween(4L, 60L);
        assertThat(taken).isEmpty();
        assertThat(inquiry.isDone()).isFalse();
        assertThat(inquiry.failure()).startsWith("table users: UNAVAILABLE");
        rig.answer("table", (arguments) -> new TableEntry("users", 1, new byte[8]));
        rig.runUntil(inquiry::isDone);
        assertThat(taken).containsExactly("1 users 4");
    }

    /** What was heard since may be newer than the answer. */
    @Test
    void shouldAskAgainWhenTheAnswerWillNotDo()
    {
        rig.answer("table", (arguments) -> new TableEntry((String)arguments[0], 1, new byte[8]));
        refusedByTaker.add(1);
        inquiry.add(1, "users");
        inquiry.add(2, "others");
        rig.registered();
        rig.run(inquiry::poll);
        rig.runUntil(() -> 2 == taken.size());
        news = 5;
        rig.runUntil(inquiry::isDone);
        assertThat(taken).containsExactlyInAnyOrder("1 users 4", "2 others 4", "1 users 5");
    }
}
