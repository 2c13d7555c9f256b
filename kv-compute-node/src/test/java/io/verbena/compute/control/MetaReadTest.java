package io.verbena.compute.control;

import io.verbena.compute.MetaRig;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.TableEntry;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class MetaReadTest
{
    private static final long SECOND_NS = 1_000_000_000;
    private static final long LONGEST_PAUSE_NS = 160_000_000;

    private final MetaRig rig = new MetaRig();
    private boolean isEnded;

    @AfterEach
    void close()
    {
        rig.close();
    }

    private MetaRead<TableEntry> ask(final long timeoutNs)
    {
        final MetaRead<TableEntry> read = new MetaRead<>(rig.link,
            (client, leftNs) -> client.table("users", leftNs), rig.nowNs() + timeoutNs, rig.nowNs());
        rig.run((nowNs) ->
        {
            isEnded = isEnded || read.poll(nowNs);
            return 0;
        });
        return read;
    }

    @Test
    void shouldAskAMetaServerThatCannotAnswerAFewTimesASecond()
    {
        rig.refuse("table", ControlStatus.UNAVAILABLE);
        final MetaRead<TableEntry> read = ask(10 * SECOND_NS);
        rig.runFor(SECOND_NS);
        assertThat(rig.count("table")).as("in one second").isBetween(8L, 24L);
        assertThat(isEnded).isFalse();

        final TableEntry users = new TableEntry("users", 1, new byte[8]);
        rig.answer("table", (arguments) -> users);
        rig.runFor(LONGEST_PAUSE_NS + MetaRig.TIMEOUT_NS);
        assertThat(isEnded).isTrue();
        assertThat(read.call().result().tableId()).isEqualTo(1);
    }

    @Test
    void shouldEndAtItsDeadlineWithTheLastFailure()
    {
        rig.refuse("table", ControlStatus.UNAVAILABLE);
        final long deadlineNs = rig.nowNs() + SECOND_NS;
        final MetaRead<TableEntry> read = ask(SECOND_NS);
        rig.runUntil(() -> isEnded);
        assertThat(read.call().status()).isEqualTo(ControlStatus.UNAVAILABLE);
        assertThat(rig.nowNs() - deadlineNs).isBetween(0L, MetaRig.TIMEOUT_NS);
    }

    @Test
    void shouldNotAskAgainWhatWasAnswered()
    {
        rig.refuse("table", ControlStatus.NO_SUCH_TABLE);
        ask(SECOND_NS);
        rig.runUntil(() -> isEnded);
        assertThat(rig.count("table")).isEqualTo(1);
    }
}
