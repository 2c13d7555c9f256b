package io.verbena.server;

import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Fabric;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** A follower runs what a leader does, and leaves nothing behind. */
@Timeout(60)
class LeaderWarmUpTest
{
    @TempDir
    private Path directory;

    private Fabric open()
    {
        return Fabrics.open("soft:" + directory.resolve("fabric"));
    }

    private Path folder()
    {
        return directory.resolve("meta-warm-up");
    }

    private List<Path> files() throws IOException
    {
        try (Stream<Path> files = Files.walk(directory))
        {
            return files.sorted().toList();
        }
    }

    private static long threads()
    {
        return Thread.getAllStackTraces().keySet().stream()
            .filter((thread) -> "verbena-leader-warm-up".equals(thread.getName())).count();
    }

    private static void awaitNoThread() throws InterruptedException
    {
        while (threads() > 0)
        {
            Thread.sleep(1);
        }
    }

    @Test
    void shouldElectALeaderAndServeANodeAndLeaveNothingBehind() throws Exception
    {
        try (Fabric fabric = open())
        {
            final List<Path> before = files();
            try (LeaderWarmUp warmUp = new LeaderWarmUp(fabric, folder()))
            {
                warmUp.begin();
                awaitNoThread();
                assertThat(warmUp.isComplete()).isTrue();
            }
            assertThat(files()).isEqualTo(before);
        }
    }

    @Test
    void shouldEndAtItsNextStepWhenAMemberBeginsToLead() throws Exception
    {
        try (Fabric fabric = open())
        {
            final List<Path> before = files();
            final LeaderWarmUp warmUp = new LeaderWarmUp(fabric, folder());
            warmUp.begin();
            warmUp.cancel();
            warmUp.close();
            assertThat(warmUp.isComplete()).isFalse();
            awaitNoThread();
            assertThat(files()).isEqualTo(before);
        }
    }

    /** The folder is there and no folder: no member of the library's can start. */
    @Test
    void shouldServeThoughNothingCanBeRehearsed() throws Exception
    {
        try (Fabric fabric = open())
        {
            final Path notAFolder = Files.createFile(directory.resolve("file")).resolve("below");
            final List<Path> before = files();
            try (LeaderWarmUp warmUp = new LeaderWarmUp(fabric, notAFolder))
            {
                warmUp.begin();
                awaitNoThread();
                assertThat(warmUp.isComplete()).isFalse();
                assertThat(warmUp.hasServed()).isTrue();
            }
            assertThat(files()).isEqualTo(before);
        }
    }

    /** A member that leads at once never rehearses, and what a killed process left would stay. */
    @Test
    void shouldTakeAwayWhatAKilledProcessLeftThoughNothingIsRehearsed() throws Exception
    {
        Files.writeString(Files.createDirectories(folder().resolve("1")).resolve("in_use.lock"), "of a killed process");
        try (Fabric fabric = open())
        {
            final LeaderWarmUp warmUp = new LeaderWarmUp(fabric, folder());
            assertThat(folder()).as("another one may rehearse there").exists();
            warmUp.close();
            assertThat(folder()).doesNotExist();
        }
    }

    @Test
    void shouldNotBeginOnceTheMemberHasLed()
    {
        try (Fabric fabric = open(); LeaderWarmUp warmUp = new LeaderWarmUp(fabric, folder()))
        {
            warmUp.cancel();
            warmUp.begin();
            assertThat(threads()).isZero();
        }
    }

    /** It is no reason to end: the member leads without it. */
    @Test
    void shouldDoWithoutWhereTheFabricHasNoDeviceForIt()
    {
        final Fabric fabric = open();
        fabric.close();
        final LeaderWarmUp warmUp = new LeaderWarmUp(fabric, folder());
        warmUp.begin();
        warmUp.close();
        assertThat(warmUp.isComplete()).isFalse();
    }
}
