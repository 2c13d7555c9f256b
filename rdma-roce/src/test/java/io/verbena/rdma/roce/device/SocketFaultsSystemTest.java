package io.verbena.rdma.roce.device;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Processes in three network namespaces, on sockets of the kernel: what becomes of a write and of connections when the
 * peer, its address or its link fails. One run, of which each test judges a part. A link is cut for as long as a write
 * and an attempt to connect take to fail; {@code -Dverbena.roce.cut.ms=10000} for longer.
 */
@Timeout(400)
class SocketFaultsSystemTest
{
    private static final String SILENT = "transport retry counter exceeded";
    private static List<String> lines;

    @BeforeAll
    static void run(@TempDir final Path directory) throws IOException, InterruptedException
    {
        lines = InNamespace.run(SocketFaultsMain.class,
            List.of(directory.toString(), Long.toString(Long.getLong("verbena.roce.cut.ms", 0)))).lines().toList();
    }

    private static void assertSeen(final String fault, final String... expected)
    {
        final String start = fault + ": ";
        assertThat(lines.stream().filter(line -> line.startsWith(start)).map(line -> line.substring(start.length())))
            .as(String.join("\n", lines)).containsExactly(expected);
    }

    @Test
    void shouldFailTheWriteToAKilledProcess()
    {
        assertSeen("killed", "connection established", "before success", "during " + SILENT);
    }

    /** The one at the same address has a connection of its own, and gets what is meant for the one before. */
    @Test
    void shouldChangeNothingInTheProcessThatCameBackAtTheSameAddress()
    {
        assertSeen("started again", "connection established", "written 0", "shortly success",
            "cut no answer from fd00:76:0:0:0:0:0:2 port 4901/tcp: is it open?", "cut " + SILENT,
            "again established", "again success", "written 4096");
    }

    @Test
    void shouldWaitForAProcessThatIsStoppedForAShortTimeAndFailWhenItIsForLong()
    {
        assertSeen("paused", "connection established", "shortly success", "during " + SILENT, "again established",
            "again success");
    }

    @Test
    void shouldFailTheWriteOverAConnectionOfWhichThePeerKnowsNothing()
    {
        assertSeen("half-open", "connection established", "closed 1", "during " + SILENT, "again established",
            "again success");
    }

    /** The kernel finds it out; who has the address keeps it, and is written to as before. */
    @Test
    void shouldRefuseAnAddressThatAnotherHostHas()
    {
        assertSeen("address twice, IPv6", "refused cannot open UDP port 4901 of fd00:76:0:0:0:0:0:2: bind: not an " +
            "address of this host (EADDRNOTAVAIL): 'ip address' lists those that are, and as 'dadfailed' one that " +
            "another host of the link has");
    }

    /** Nothing finds it out; packets reach the wrong host for a while. */
    @Test
    void shouldChangeNothingAtTheWrongHostOfTwoWithOneAddress()
    {
        assertSeen("address twice, IPv4", "connection established", "open there, too", "during " + SILENT, "written 0",
            "again established", "again success");
    }

    @Test
    void shouldSayInOneLineThatAPortIsInUse()
    {
        assertSeen("port in use", "refused cannot open UDP port 4902 of fd00:76:0:0:0:0:0:2: bind: the port is " +
            "in use (EADDRINUSE): 'ss -ulpn sport = :4902' shows by whom; give another port");
    }
}
