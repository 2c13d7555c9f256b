package io.verbena.rdma.roce.interop;

import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePairType;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Programs of perftest and rdma-core at Soft-RoCE, each with our engine as its server and as its client. */
final class ProgramRuns
{
    private static final Path RNICS = Path.of("/sys/class/infiniband");
    private static final int MTU_1024 = 3;
    private static final int MTU_4096 = 5;

    private static final List<PerftestRun> PERFTEST = List.of(
        new PerftestRun("ib_read_lat", 64, MTU_1024, 200),
        new PerftestRun("ib_write_lat", 64, MTU_1024, 25),
        new PerftestRun("ib_atomic_lat", Long.BYTES, MTU_1024, 200),
        new PerftestRun("ib_send_lat", 64, MTU_1024, 200),
        new PerftestRun("ib_send_lat", QueuePairType.UC, 3000, MTU_1024, 100),
        new PerftestRun("ib_send_lat", QueuePairType.UD, 1000, MTU_1024, 100),
        new PerftestRun("ib_write_lat", QueuePairType.UC, 3000, MTU_1024, 25),
        new PerftestRun("ib_read_bw", 65_536, MTU_4096, 100),
        new PerftestRun("ib_write_bw", 65_536, MTU_4096, 100),
        new PerftestRun("ib_send_bw", 20_000, MTU_1024, 100),
        new PerftestRun("ib_atomic_bw", Long.BYTES, MTU_1024, 200));

    private static final List<PingpongRun> PINGPONG = List.of(
        new PingpongRun("ibv_rc_pingpong", QueuePairType.RC, 1, 4096, 200),
        new PingpongRun("ibv_uc_pingpong", QueuePairType.UC, 1, 4096, 200),
        new PingpongRun("ibv_ud_pingpong", QueuePairType.UD, 1, 1000, 200),
        new PingpongRun("ibv_srq_pingpong", QueuePairType.RC, 16, 4096, 400));

    private final String device;
    private final int gidIndex;

    /** @param fabric such as {@code ibverbs:rxe1,windows=on}. */
    ProgramRuns(final String fabric, final DeviceAddress address)
    {
        device = fabric.replaceAll("^[^:]*:|,.*$", "");
        gidIndex = gidIndex(RNICS.resolve(device).resolve("ports/1"), address);
    }

    private static int gidIndex(final Path port, final DeviceAddress address)
    {
        final String wanted = String.format("%016x%016x", address.gidHigh(), address.gidLow());
        try (DirectoryStream<Path> gids = Files.newDirectoryStream(port.resolve("gids")))
        {
            for (final Path gid : gids)
            {
                if (Files.readString(gid).strip().replace(":", "").equals(wanted))
                {
                    return Integer.parseInt(gid.getFileName().toString());
                }
            }
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
        throw new IllegalStateException("no GID " + address + " in " + port);
    }

    /** By name; the programs as clients of ours, that is rxe asks, then as servers. */
    Map<String, Consumer<EngineSide>> all()
    {
        final Map<String, Consumer<EngineSide>> runs = new LinkedHashMap<>();
        for (final PerftestRun run : PERFTEST)
        {
            runs.put("rxe>verbena  program: " + run.title(), (ours) -> run.serve(ours, device, gidIndex));
            runs.put("verbena>rxe  program: " + run.title(), (ours) -> run.ask(ours, device, gidIndex));
        }
        for (final PingpongRun run : PINGPONG)
        {
            runs.put("rxe>verbena  program: " + run.title(), (ours) -> run.serve(ours, device, gidIndex));
            runs.put("verbena>rxe  program: " + run.title(), (ours) -> run.ask(ours, device, gidIndex));
        }
        return runs;
    }
}
