package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.wire.PacketSink;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.spi.RetryTimers;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Which entries send, in which order and how often, and when the next deadline is. */
class ScheduleTest
{
    private static final int MAX_ROUNDS = 64;
    private static final int QUANTUM = 16;

    private final Schedule schedule = new Schedule();
    private final List<String> calls = new ArrayList<>();
    private final Sink sink = new Sink();
    private final PacketWriter writer = new PacketWriter(sink, null, null);

    /** Sends so many quanta, and says that it was called. */
    private final class Entry extends ScheduleEntry
    {
        private final String name;
        private int quantaLeft = 1;
        /** What else it does when it sends, and when its deadline is over. */
        private Runnable onTransmit = () -> {};
        private Runnable onTimer = () -> {};

        private Entry(final String name)
        {
            this.name = name;
            schedule.add(this);
        }

        @Override
        boolean transmit(final int quantum)
        {
            assertThat(quantum).isEqualTo(QUANTUM);
            calls.add(name);
            onTransmit.run();
            return --quantaLeft > 0;
        }

        @Override
        void onTimer(final long nowNs)
        {
            calls.add(name + "@" + nowNs);
            onTimer.run();
        }
    }

    private static final class Sink implements PacketSink
    {
        private final RocePacket packet = new RocePacket();
        private boolean isFull;

        @Override
        public RocePacket claim()
        {
            return isFull ? null : packet;
        }

        @Override
        public void send(final RocePacket sent)
        {
            throw new AssertionError(sent);
        }
    }

    private final Entry a = new Entry("a");
    private final Entry b = new Entry("b");
    private final Entry c = new Entry("c");

    private List<String> taken()
    {
        final List<String> taken = List.copyOf(calls);
        calls.clear();
        return taken;
    }

    @Test
    void shouldLetEntriesSendInTurnUntilNoneHasMore()
    {
        a.quantaLeft = 3;
        b.quantaLeft = 2;
        schedule.wake(a);
        schedule.wake(b);
        schedule.wake(c);
        assertThat(schedule.transmit(writer)).isEqualTo(6);
        assertThat(taken()).containsExactly("a", "b", "c", "a", "b", "a");
        assertThat(schedule.transmit(writer)).isZero();
        schedule.wake(c);
        schedule.wake(a);
        assertThat(schedule.transmit(writer)).isEqualTo(2);
        assertThat(taken()).containsExactly("c", "a");
    }

    @Test
    void shouldLetAnEntrySendOnceHoweverOftenItIsWoken()
    {
        schedule.wake(a);
        schedule.wake(b);
        schedule.wake(a);
        schedule.wake(b);
        assertThat(schedule.transmit(writer)).isEqualTo(2);
        assertThat(taken()).containsExactly("a", "b");
    }

    /** What wakes an entry while it sends must not be lost, nor count twice. */
    @Test
    void shouldTakeAnEntryOnceMoreThatIsWokenWhileItSends()
    {
        a.quantaLeft = 2;
        schedule.wake(a);
        schedule.wake(b);
        a.onTransmit = () ->
        {
            schedule.wake(a);
            a.onTransmit = () -> {};
        };
        assertThat(schedule.transmit(writer)).isEqualTo(3);
        assertThat(taken()).containsExactly("a", "b", "a");
    }

    /** The caller looks for packets and timers in between, however much there is to send. */
    @Test
    void shouldEndAfterSomeRoundsThoughThereIsMore()
    {
        a.quantaLeft = 3 * MAX_ROUNDS;
        schedule.wake(a);
        assertThat(schedule.transmit(writer)).isEqualTo(MAX_ROUNDS);
        assertThat(schedule.nextDeadlineNs(5)).isEqualTo(5);
        assertThat(schedule.transmit(writer)).isEqualTo(MAX_ROUNDS);
        assertThat(a.quantaLeft).isEqualTo(MAX_ROUNDS);
    }

    @Test
    void shouldEndWithoutRoomAndGoOnWithTheNextEntryWhenThereIsSome()
    {
        a.quantaLeft = 2;
        a.onTransmit = writer::claim;
        sink.isFull = true;
        schedule.wake(a);
        schedule.wake(b);
        assertThat(schedule.transmit(writer)).isEqualTo(1);
        assertThat(taken()).containsExactly("a");
        sink.isFull = false;
        assertThat(schedule.transmit(writer)).isEqualTo(2);
        assertThat(taken()).containsExactly("b", "a");
    }

    @Test
    void shouldNameTheEarliestDeadlineOrNowWhileEntriesAreReady()
    {
        assertThat(schedule.nextDeadlineNs(5)).isEqualTo(RetryTimers.NEVER_NS);
        schedule.deadline(a, 30);
        schedule.deadline(b, 20);
        schedule.deadline(c, 40);
        assertThat(schedule.nextDeadlineNs(5)).isEqualTo(20);
        schedule.wake(c);
        assertThat(schedule.nextDeadlineNs(5)).isEqualTo(5);
        schedule.transmit(writer);
        assertThat(schedule.nextDeadlineNs(5)).isEqualTo(20);
    }

    @Test
    void shouldCallEntriesOnceWhenTheirDeadlinesAreOver()
    {
        schedule.deadline(a, 30);
        schedule.deadline(b, 20);
        schedule.deadline(c, 40);
        assertThat(schedule.fireTimers(19)).isZero();
        assertThat(schedule.fireTimers(30)).isEqualTo(2);
        assertThat(taken()).containsExactly("a@30", "b@30");
        assertThat(schedule.nextDeadlineNs(30)).isEqualTo(40);
        assertThat(schedule.fireTimers(39)).isZero();
        assertThat(schedule.fireTimers(40)).isEqualTo(1);
        assertThat(taken()).containsExactly("c@40");
        assertThat(schedule.nextDeadlineNs(40)).isEqualTo(RetryTimers.NEVER_NS);
        assertThat(schedule.fireTimers(Long.MAX_VALUE - 1)).isZero();
    }

    /** Own ones, and those of entries that have been passed already. */
    @Test
    void shouldKeepDeadlinesThatAreSetWhileOthersAreCalled()
    {
        schedule.deadline(b, 20);
        b.onTimer = () ->
        {
            schedule.deadline(a, 60);
            schedule.deadline(b, 50);
        };
        assertThat(schedule.fireTimers(20)).isEqualTo(1);
        assertThat(schedule.nextDeadlineNs(20)).isEqualTo(50);
        b.onTimer = () -> {};
        assertThat(schedule.fireTimers(60)).isEqualTo(2);
        assertThat(taken()).containsExactly("b@20", "a@60", "b@60");
    }

    /** A deadline that was put off: nothing is called at the earlier time. */
    @Test
    void shouldCallNothingAtADeadlineThatWasPutOff()
    {
        schedule.deadline(a, 20);
        schedule.deadline(a, 50);
        assertThat(schedule.fireTimers(20)).isZero();
        assertThat(schedule.nextDeadlineNs(20)).isEqualTo(50);
        assertThat(schedule.fireTimers(50)).isEqualTo(1);
    }

    @Test
    void shouldCallNoEntryThatWasRemoved()
    {
        schedule.deadline(a, 20);
        schedule.deadline(b, 20);
        schedule.remove(a);
        assertThat(schedule.fireTimers(20)).isEqualTo(1);
        assertThat(taken()).containsExactly("b@20");
    }
}
