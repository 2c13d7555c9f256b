package io.verbena.meta.raft;

import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

class GroupRehearsalTest
{
    private static final GroupKey GROUP = new GroupKey(new UUID(1, 2), new byte[16]);

    @TempDir
    private Path directory;

    @Test
    void shouldElectALeaderAndLeaveNothing() throws Exception
    {
        final Path folder = directory.resolve("rehearsal");
        assertThat(GroupRehearsal.run(GROUP, folder, SystemNanoClock.INSTANCE, () -> false)).isTrue();
        assertThat(folder).doesNotExist();
    }

    @Test
    void shouldTakeAwayWhatAnEarlierOneLeft() throws Exception
    {
        final Path folder = Files.createDirectories(directory.resolve("rehearsal").resolve("1")).getParent();
        Files.writeString(folder.resolve("1").resolve("in_use.lock"), "of a process that was killed");
        assertThat(GroupRehearsal.run(GROUP, folder, SystemNanoClock.INSTANCE, () -> false)).isTrue();
        assertThat(folder).doesNotExist();
    }

    @Test
    void shouldEndWhenItIsCancelled() throws Exception
    {
        final Path folder = directory.resolve("rehearsal");
        final AtomicInteger asked = new AtomicInteger();
        assertThat(GroupRehearsal.run(
            GROUP, folder, SystemNanoClock.INSTANCE, () -> asked.incrementAndGet() > 10)).isFalse();
        assertThat(asked).hasValue(11);
        assertThat(folder).doesNotExist();
    }

    /** A clock that runs away stands for a group that elects nobody. */
    @Test
    void shouldEndWhenNobodyIsElectedInTime() throws Exception
    {
        final Path folder = directory.resolve("rehearsal");
        final AtomicLong nowNs = new AtomicLong();
        assertThat(GroupRehearsal.run(
            GROUP, folder, () -> nowNs.addAndGet(TimeUnit.SECONDS.toNanos(6)), () -> false)).isFalse();
        assertThat(folder).doesNotExist();
    }
}
