package io.verbena.compute.maintenance;

import io.verbena.raas.identity.PeerIdentity;

import org.junit.jupiter.api.Test;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** When the chunks of a node itself are due to be reclaimed. */
class OwnChunkSweepTest
{
    private final AtomicLong epoch = new AtomicLong(100);
    private final AtomicLong closedTables = new AtomicLong();
    private final AtomicInteger asked = new AtomicInteger();
    private final OwnChunkSweep sweep =
        new OwnChunkSweep(epoch::get, closedTables::get, new PeerIdentity(3, 7), asked::incrementAndGet);

    @Test
    void shouldBeWantedOnceItIsAskedForAndUntilItIsMarked()
    {
        assertThat(sweep.isWanted()).isFalse();
        sweep.ask();
        assertThat(asked).hasValue(1);
        assertThat(sweep.isWanted()).isTrue();
        assertThat(sweep.isDue()).as("not before a view shows the chunks").isFalse();
        sweep.mark(null);
        assertThat(sweep.isWanted()).as("there are none").isFalse();
    }

    @Test
    void shouldNoteAShortageOnceAndNotAgainBeforeThePauseIsOver()
    {
        assertThat(sweep.noteShortage(0)).as("nothing was refused").isFalse();
        assertThat(sweep.isShort(1)).isTrue();
        assertThat(sweep.noteShortage(1)).isTrue();
        assertThat(sweep.noteShortage(1)).as("the same refusals").isFalse();
        epoch.addAndGet(OwnChunkSweep.SHORTAGE_PAUSE_EPOCHS - 1);
        assertThat(sweep.noteShortage(2)).as("too soon").isFalse();
        assertThat(sweep.isShort(2)).isFalse();
        epoch.incrementAndGet();
        assertThat(sweep.noteShortage(2)).isTrue();
    }

    @Test
    void shouldNoteEachTableThatWasDropped()
    {
        closedTables.set(1);
        assertThat(sweep.noteShortage(0)).isTrue();
        assertThat(sweep.noteShortage(0)).isFalse();
        closedTables.set(3);
        assertThat(sweep.noteShortage(0)).isTrue();
    }
}
