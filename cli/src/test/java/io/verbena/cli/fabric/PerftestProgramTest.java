package io.verbena.cli.fabric;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.rdma.verbs.DeviceAddress;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Needs no perftest and no device. */
class PerftestProgramTest
{
    /** As ib_atomic_lat 4.5 prints it. */
    private static final String OUTPUT = """
        ---------------------------------------------------------------------------------------
                            Atomic CMP_AND_SWAP Latency Test
         Mtu             : 4096[B]
         remote address: LID 0000 QPN 0x0012 PSN 0xdcdbd6 RKey 0x000343 VAddr 0x0055fd0b1ea000
        ---------------------------------------------------------------------------------------
         #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   \
        99% percentile[usec]   99.9% percentile[usec]
         8       20000          15.36          5813.74      16.54    \t       25.94       \t164.22 \t\t87.87   \t\t\
        3692.27
        ---------------------------------------------------------------------------------------
        """;

    @TempDir
    private Path folder;

    @Test
    void shouldTakeTypicalTimesForMedians()
    {
        assertThat(PerftestProgram.parse(OUTPUT)).isEqualTo(new PerftestProgram.Figures(15_360, 16_540, 25_940));
    }

    @Test
    void shouldFindNoFiguresWhereThereAreNone()
    {
        assertThat(PerftestProgram.parse("Couldn't connect to 127.0.0.1:18515\nUnable to init the socket connection\n"))
            .isNull();
    }

    @Test
    void shouldFindPortAndIndexOfGid() throws IOException
    {
        final Path gids = Files.createDirectories(folder.resolve("1").resolve("gids"));
        Files.writeString(gids.resolve("0"), "fe80:0000:0000:0000:5054:00ff:fe12:3456\n");
        Files.writeString(gids.resolve("1"), "0000:0000:0000:0000:0000:ffff:0a09:0001\n");

        assertThat(PerftestProgram.gid(folder, new DeviceAddress(0, 0xFFFF_0A09_0001L)))
            .isEqualTo(List.of("-i", "1", "-x", "1"));
        assertThatThrownBy(() -> PerftestProgram.gid(folder, new DeviceAddress(0, 7)))
            .isInstanceOf(CommandFailedException.class).hasMessageContaining("no GID in " + folder);
        assertThatThrownBy(() -> PerftestProgram.gid(folder.resolve("none"), new DeviceAddress(0, 7)))
            .isInstanceOf(CommandFailedException.class).hasMessageContaining("cannot be read");
    }
}
