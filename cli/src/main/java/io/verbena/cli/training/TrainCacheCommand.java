package io.verbena.cli.training;

import io.verbena.cli.console.ExitStatus;

import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

import java.nio.file.Path;
import java.util.concurrent.Callable;

/** {@code verbena train-cache}: what the launcher calls after a build, see {@link CacheTraining}. */
@Command(
    name = "train-cache",
    hidden = true,
    description = "Run a compute node on a small cluster, and record what its JVM loads and runs.")
public final class TrainCacheCommand implements Callable<Integer>
{
    @Parameters(paramLabel = "FILE", description = "Takes the record, for java -XX:AOTMode=create.")
    private Path configuration;

    @Override
    public Integer call()
    {
        CacheTraining.run(configuration.toAbsolutePath());
        return ExitStatus.OK;
    }
}
