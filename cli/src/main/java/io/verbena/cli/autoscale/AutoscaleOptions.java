package io.verbena.cli.autoscale;

import io.verbena.cli.autoscale.policy.ScaleLimits;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OptionRange;

import org.agrona.concurrent.SystemEpochClock;
import org.agrona.concurrent.SystemNanoClock;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.concurrent.TimeUnit;

/** How an autoscaler decides, and what starts and ends nodes, wherever it runs. */
final class AutoscaleOptions
{
    private static final int MAX_NODES = 30;
    private static final int MAX_SHARE = 90;
    private static final int MAX_OBJECTIVE_US = 10_000_000;
    private static final int MAX_WINDOW_S = 86_400;
    private static final int MAX_PERIOD_MS = 600_000;
    private static final int MIN_PERIOD_MS = 200;
    private static final int MAX_TIMEOUT_S = 600;
    private static final double PERCENT = 100;

    @Mixin
    private LauncherOptions launcher;

    @Option(names = "--min", paramLabel = "N", defaultValue = "1",
        description = "Fewest compute nodes. Default: ${DEFAULT-VALUE}.")
    private int min;

    @Option(names = "--max", paramLabel = "N", defaultValue = "4",
        description = "Most compute nodes. Default: ${DEFAULT-VALUE}.")
    private int max;

    @Option(names = "--target", paramLabel = "PERCENT", defaultValue = "60",
        description = "Share of its time that a node is to work. Default: ${DEFAULT-VALUE}.")
    private int target;

    @Option(names = "--objective-us", paramLabel = "US", defaultValue = "0",
        description = "Start nodes also when the 99th percentile from arrival to answer is above this and nodes are " +
            "busy, in microseconds; 0: not. Default: ${DEFAULT-VALUE}.")
    private int objectiveUs;

    @Option(names = "--period", paramLabel = "MS", defaultValue = "2000",
        description = "Time between two decisions in milliseconds. Default: ${DEFAULT-VALUE}.")
    private int periodMs;

    @Option(names = "--up-window", paramLabel = "S", defaultValue = "4",
        description = "Start nodes when they were needed for so many seconds; at once when nodes have no time left. " +
            "Default: ${DEFAULT-VALUE}.")
    private int upWindowS;

    @Option(names = "--down-window", paramLabel = "S", defaultValue = "120",
        description = "End nodes when fewer were enough for so many seconds. Default: ${DEFAULT-VALUE}.")
    private int downWindowS;

    @Option(names = "--step", paramLabel = "N", defaultValue = "4",
        description = "Most nodes that one decision starts or ends. Default: ${DEFAULT-VALUE}.")
    private int step;

    @Option(names = "--cool-down", paramLabel = "S", defaultValue = "10",
        description = "Time between two decisions that end nodes, in seconds. Default: ${DEFAULT-VALUE}.")
    private int coolDownS;

    @Option(names = "--launch-timeout", paramLabel = "S", defaultValue = "60",
        description = "A node that does not serve after so many seconds is ended again. Default: ${DEFAULT-VALUE}.")
    private int launchTimeoutS;

    @Option(names = "--spares", paramLabel = "N", defaultValue = "0",
        description = "Compute nodes that are started beforehand, and join within milliseconds, 0 to 30; not more " +
            "than may still join. Default: ${DEFAULT-VALUE}.")
    private int spares;

    @Option(names = "--dry-run", description = "Decide and record, and change nothing.")
    private boolean dryRun;

    LauncherOptions launcher()
    {
        return launcher;
    }

    int launchTimeoutS()
    {
        return launchTimeoutS;
    }

    int periodMs()
    {
        return periodMs;
    }

    /** An autoscaler of these options, on the clocks of this host. */
    Autoscaler autoscaler(final Fleet fleet)
    {
        return new Autoscaler(
            fleet, limits(), periodMs, spares, dryRun, SystemNanoClock.INSTANCE, SystemEpochClock.INSTANCE);
    }

    /** Checks the options; {@code USAGE} with one line when one is wrong. */
    ScaleLimits limits()
    {
        OptionRange.check("--min", min, 1, MAX_NODES);
        OptionRange.check("--max", max, 1, MAX_NODES);
        OptionRange.check("--target", target, 1, MAX_SHARE);
        OptionRange.check("--objective-us", objectiveUs, 0, MAX_OBJECTIVE_US);
        OptionRange.check("--period", periodMs, MIN_PERIOD_MS, MAX_PERIOD_MS);
        OptionRange.check("--up-window", upWindowS, 0, MAX_WINDOW_S);
        OptionRange.check("--down-window", downWindowS, 0, MAX_WINDOW_S);
        OptionRange.check("--step", step, 1, MAX_NODES);
        OptionRange.check("--cool-down", coolDownS, 0, MAX_WINDOW_S);
        OptionRange.check("--launch-timeout", launchTimeoutS, 1, MAX_TIMEOUT_S);
        OptionRange.check("--spares", spares, 0, MAX_NODES);
        if (max < min)
        {
            throw new CommandFailedException(
                ExitStatus.USAGE, "--max " + max + ": must not be less than --min " + min, null);
        }
        return new ScaleLimits(min, max, target / PERCENT, objectiveUs, TimeUnit.SECONDS.toMillis(upWindowS),
            TimeUnit.SECONDS.toMillis(downWindowS), step, TimeUnit.SECONDS.toMillis(coolDownS));
    }
}
