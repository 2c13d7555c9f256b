package io.verbena.meta.raft;

import io.verbena.meta.store.DurableWriteError;
import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaCommand;
import io.verbena.meta.store.MetaCounters;
import io.verbena.meta.store.ReplicatedState;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Two members with one log that answers at once, or not at all. */
class LeadershipTest
{
    private static final long LEASE_NS = 1_000_000_000;
    private static final long STEP_NS = 1_000_000;

    private final ReplicatedState state = new ReplicatedState();
    private long index;
    private long realNs;

    private final class Member implements GroupLog
    {
        private final double rate;
        private final Leadership leadership;
        private boolean leads;
        private boolean isCutOff;
        private long appendNs;
        /** Takes the questions, when it is there. */
        private List<CompletableFuture<Long>> questions;

        private Member(final String name, final double rate)
        {
            this.rate = rate;
            leadership = new Leadership(this, name, this::nanoTime, LEASE_NS);
        }

        private long nanoTime()
        {
            return (long)(realNs * rate);
        }

        @Override
        public boolean mayLead()
        {
            return leads;
        }

        @Override
        public CompletableFuture<Boolean> append(final MetaCommand command)
        {
            realNs += appendNs;
            return isCutOff ? new CompletableFuture<>() :
                CompletableFuture.completedFuture(state.apply(1, index++, command));
        }

        @Override
        public CompletableFuture<Long> latestLeadership()
        {
            if (null != questions)
            {
                questions.add(new CompletableFuture<>());
                return questions.getLast();
            }
            return isCutOff ? new CompletableFuture<>() :
                CompletableFuture.completedFuture(state.leadership().number());
        }

        @Override
        public ReplicatedState state()
        {
            return state;
        }

        private void pollUntilLeading()
        {
            final long sinceNs = realNs;
            while (Leadership.State.LEADING != leadership.state() && realNs - sinceNs < 5 * LEASE_NS)
            {
                leadership.poll(nanoTime());
                realNs += STEP_NS;
            }
            assertThat(leadership.isHeld()).isTrue();
        }
    }

    @Test
    void shouldLeadAtOnceWhenNobodyHasLed()
    {
        final Member first = new Member("a", 1);
        first.leads = true;
        first.pollUntilLeading();
        assertThat(realNs).isLessThan(LEASE_NS / 10);
        assertThat(first.leadership.number()).isEqualTo(1);
    }

    /** The thread pauses between its clock and the entry, and sees the entry applied with a time of long before. */
    @Test
    void shouldCountItsWaitFromWhenItsEntryWasSeen()
    {
        final Member before = new Member("a", 1);
        before.leads = true;
        before.pollUntilLeading();
        before.isCutOff = true;
        final Member next = new Member("b", 1);
        next.leads = true;
        next.leadership.poll(next.nanoTime());
        final long readNs = next.nanoTime();
        realNs += LEASE_NS;
        next.leadership.poll(readNs);
        assertThat(next.leadership.state()).isEqualTo(Leadership.State.WAITING);
        final long seenNs = realNs;
        next.pollUntilLeading();
        assertThat(realNs - seenNs).isGreaterThan(LEASE_NS);
    }

    /** The one before is partitioned or stands still, believes that it leads, and its clock is slow. */
    @Test
    void shouldWaitUntilTheLeaseOfASlowClockIsOver()
    {
        final Member before = new Member("a", 0.955);
        before.leads = true;
        before.pollUntilLeading();
        before.leadership.poll(before.nanoTime());
        before.isCutOff = true;

        final Member next = new Member("b", 1.045);
        next.leads = true;
        next.pollUntilLeading();
        assertThat(before.leadership.state()).isEqualTo(Leadership.State.LEADING);
        assertThat(before.leadership.isHeld()).isFalse();
        assertThat(before.leadership.leaseLeftNs()).isZero();
    }

    /** Else the thread that polls it sleeps over the moment at which it may answer. */
    @Test
    void shouldBeDueWhenItsWaitIsOver()
    {
        final Member before = new Member("a", 1);
        before.leads = true;
        before.pollUntilLeading();
        before.isCutOff = true;
        final Member next = new Member("b", 1);
        final long followingNs = next.leadership.idleNs();
        next.leads = true;
        next.leadership.poll(next.nanoTime());
        next.leadership.poll(next.nanoTime());
        assertThat(next.leadership.state()).isEqualTo(Leadership.State.WAITING);
        final long sinceNs = realNs;
        assertThat(next.leadership.idleNs()).as("nearly all of the wait is left").isEqualTo(followingNs);
        realNs += STEP_NS; // the wait is no multiple of a sleep from here on
        while (Leadership.State.WAITING == next.leadership.state())
        {
            realNs += Math.max(1, next.leadership.idleNs());
            next.leadership.poll(next.nanoTime());
        }
        assertThat(realNs - sinceNs).isBetween(LEASE_NS + LEASE_NS / 4, LEASE_NS + LEASE_NS / 4 + 1);
        assertThat(next.leadership.idleNs()).isEqualTo(followingNs);
    }

    @Test
    void shouldRenewALeaseThatHasRunOutWhenNobodyHasLedMeanwhile()
    {
        final Member member = new Member("a", 1);
        member.leads = true;
        member.pollUntilLeading();
        realNs += 3 * LEASE_NS;
        assertThat(member.leadership.isHeld()).isFalse();
        member.leadership.poll(member.nanoTime());
        member.leadership.poll(member.nanoTime());
        assertThat(member.leadership.isHeld()).isTrue();
        assertThat(member.leadership.number()).isEqualTo(1);
    }

    @Test
    void shouldNotWaitAfterItself()
    {
        final Member member = new Member("a", 1);
        member.leads = true;
        member.pollUntilLeading();
        member.leadership.resign("a write failed");
        assertThat(member.leadership.isHeld()).isFalse();
        final long sinceNs = realNs;
        member.pollUntilLeading();
        assertThat(realNs - sinceNs).isLessThan(LEASE_NS / 2);
        assertThat(member.leadership.number()).isEqualTo(2);
    }

    @Test
    void shouldNotShortenALeaseByAnAnswerToAnEarlierQuestion()
    {
        final Member member = new Member("a", 1);
        member.leads = true;
        member.pollUntilLeading();
        member.leadership.onConfirmed(realNs);
        member.leadership.onConfirmed(realNs - LEASE_NS / 2);
        assertThat(member.leadership.leaseLeftNs()).isEqualTo(LEASE_NS);
    }

    /** It leads again after itself, at once, but under no lease of before, and whatever it had asked before. */
    @Test
    void shouldLeadAgainOnlyWhenTheGroupHasConfirmedThat()
    {
        final Member member = new Member("a", 1);
        member.leads = true;
        member.pollUntilLeading();
        member.questions = new ArrayList<>();
        realNs += LEASE_NS / 2;
        member.leadership.poll(member.nanoTime());
        assertThat(member.questions).as("it renews its lease").hasSize(1);
        member.leadership.resign("a write failed");
        realNs += LEASE_NS / 4;
        member.leadership.poll(member.nanoTime());
        member.leadership.poll(member.nanoTime());
        assertThat(member.leadership.number()).isEqualTo(2);
        assertThat(member.leadership.state()).isEqualTo(Leadership.State.WAITING);
        assertThat(member.questions).as("it asks again").hasSize(2);
        member.questions.getFirst().complete(1L);
        member.leadership.poll(member.nanoTime());
        assertThat(member.leadership.state()).isEqualTo(Leadership.State.WAITING);
        member.questions.getLast().complete(2L);
        member.leadership.poll(member.nanoTime());
        assertThat(member.leadership.isHeld()).isTrue();
    }

    @Test
    void shouldTryAgainWhenItsEntryIsNotAnswered()
    {
        final Member member = new Member("a", 1);
        member.leads = true;
        member.isCutOff = true;
        member.leadership.poll(member.nanoTime());
        assertThat(member.leadership.state()).isEqualTo(Leadership.State.TAKING);
        realNs += 5 * LEASE_NS;
        member.leadership.poll(member.nanoTime());
        assertThat(member.leadership.state()).isEqualTo(Leadership.State.FOLLOWING);
        member.isCutOff = false;
        member.pollUntilLeading();
    }

    @Test
    void shouldAskAgainWhenAQuestionIsNotAnswered()
    {
        final Member member = new Member("a", 1);
        member.leads = true;
        member.pollUntilLeading();
        member.questions = new ArrayList<>();
        realNs += LEASE_NS / 2;
        member.leadership.poll(member.nanoTime());
        realNs += LEASE_NS / 2;
        member.leadership.poll(member.nanoTime());
        assertThat(member.questions).as("one at a time").hasSize(1);
        realNs += LEASE_NS;
        member.leadership.poll(member.nanoTime());
        assertThat(member.questions).hasSize(2);
        assertThat(member.leadership.isHeld()).isFalse();
        member.questions.getLast().complete(1L);
        member.leadership.poll(member.nanoTime());
        assertThat(member.leadership.isHeld()).isTrue();
    }

    @Test
    void shouldFollowWhenTheGroupDoes()
    {
        final Member member = new Member("a", 1);
        member.leads = true;
        member.pollUntilLeading();
        member.leads = false;
        member.leadership.poll(member.nanoTime());
        assertThat(member.leadership.isHeld()).isFalse();
        assertThat(member.leadership.state()).isEqualTo(Leadership.State.FOLLOWING);
    }

    @Test
    void shouldRefuseTheWritesOfADeposedLeader()
    {
        final Member before = new Member("a", 1);
        before.leads = true;
        before.pollUntilLeading();
        final GroupMetaStore old = new GroupMetaStore(before, before.leadership, before::nanoTime, LEASE_NS);
        old.write(new MetaBatch().counters(MetaCounters.initial(7)));

        final Member next = new Member("b", 1);
        next.leads = true;
        next.pollUntilLeading();
        assertThatThrownBy(() -> old.write(new MetaBatch().counters(MetaCounters.initial(8))))
            .isInstanceOf(DurableWriteError.class).hasMessageContaining("another meta server leads the group by now");
        assertThat(state.load().counters().clusterId()).isEqualTo(7);
        assertThat(old.load()).isEqualTo(state.load());
    }

    /** Another one may have begun to lead since the write was sent. */
    @Test
    void shouldRenewItsLeaseFromBeforeAWriteWasSent()
    {
        final Member member = new Member("a", 1);
        member.leads = true;
        member.pollUntilLeading();
        realNs += LEASE_NS / 2;
        member.appendNs = LEASE_NS / 4;
        new GroupMetaStore(member, member.leadership, member::nanoTime, LEASE_NS)
            .write(new MetaBatch().counters(MetaCounters.initial(7)));
        assertThat(member.leadership.leaseLeftNs()).isEqualTo(LEASE_NS - LEASE_NS / 4);
    }

    @Test
    void shouldFailAWriteThatNobodyAnswers()
    {
        final Member member = new Member("a", 1);
        member.leads = true;
        member.pollUntilLeading();
        member.isCutOff = true;
        final GroupMetaStore store = new GroupMetaStore(member, member.leadership, member::nanoTime, STEP_NS);
        assertThatThrownBy(() -> store.write(new MetaBatch().counters(MetaCounters.initial(7))))
            .isInstanceOf(DurableWriteError.class).hasMessageContaining("did not answer within 1 ms");
    }
}
