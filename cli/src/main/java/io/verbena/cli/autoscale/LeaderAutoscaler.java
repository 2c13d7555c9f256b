package io.verbena.cli.autoscale;

import io.verbena.cli.autoscale.launch.Launcher;
import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.cli.role.AutoscalerPlace;

import org.agrona.CloseHelper;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * The autoscaler of a meta server. It decides while that leads, and changes nothing in the first {@code hold} of each
 * leadership: by then what an earlier leader had begun to start serves, or never will. All that starts or ends a node
 * or activates one is preceded by a look at the lease, and is broken off when that ends; spares that are being started
 * at the next period. So two leaders never both change the number.
 *
 * <p>Nothing of the decisions of an earlier leader is known: all windows, and the cool-down, begin anew. A leadership
 * that goes on after its lease had run out, so that nobody else has led, does not wait again, unless a change was
 * broken off.
 */
public final class LeaderAutoscaler implements AutoCloseable
{
    private static final Logger LOGGER = LoggerFactory.getLogger(LeaderAutoscaler.class);
    /** After so long a change is broken off when the leadership has ended: 50 ms. */
    private static final long WATCH_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long END_MS = 5_000;
    private static final long NONE = -1;
    private static final String OPTION = "--autoscale";

    private final LongSupplier leadership;
    private final Function<ChangePermission, Fleet> fleets;
    private final Function<Fleet, Autoscaler> autoscalers;
    private final Consumer<DecisionRecord> records;
    private final long holdNs;
    private final NanoClock clock;
    private Thread worker;
    private Thread watcher;
    private volatile boolean isEnding;
    /** Whose work is under way; NONE where there is none. */
    private volatile long current = NONE;
    /** The latest leadership, and since when nothing else has changed the number. */
    private long latest = NONE;
    private long sinceNs;
    /** Whether something may come later of a change, and of spares, if it is broken off now. */
    private boolean isChanging;
    private boolean isStartingSpares;
    private ChangePermission permission;
    private Fleet fleet;
    private Autoscaler autoscaler;
    private String trouble = "";

    /**
     * Does nothing before {@link #step()}.
     *
     * @param leadership  in force at this moment, 0 or more, or negative.
     * @param fleets      opens the nodes; all that starts or ends one has to ask what it is given.
     * @param autoscalers of these nodes.
     * @param records     takes each decision.
     * @param holdMs      after which nothing comes of what an earlier leader has begun.
     * @param clock       for that.
     */
    LeaderAutoscaler(
        final LongSupplier leadership, final Function<ChangePermission, Fleet> fleets,
        final Function<Fleet, Autoscaler> autoscalers, final Consumer<DecisionRecord> records, final long holdMs,
        final NanoClock clock)
    {
        this.leadership = leadership;
        this.fleets = fleets;
        this.autoscalers = autoscalers;
        this.records = records;
        holdNs = TimeUnit.MILLISECONDS.toNanos(holdMs);
        this.clock = clock;
    }

    /**
     * Reads the options, and starts the threads.
     *
     * @param settings file with an option of {@code autoscale} a line.
     * @param place    of the meta server.
     * @return the autoscaler, closed by the caller.
     * @throws CommandFailedException one line, when an option is wrong, or another autoscaler has the folder.
     */
    public static LeaderAutoscaler open(final Path settings, final AutoscalerPlace place)
    {
        // Read once: a file that is changed later counts from the next start on, all of it.
        final AutoscaleOptions options = options(settings);
        options.limits();
        // What is wrong with the options is a reason not to start, and not found out when this one leads.
        CloseHelper.close(options.launcher().open(place, options.launchTimeoutS(), ChangePermission.ALWAYS));
        final DecisionLog log = DecisionLog.open(ClusterFolder.of(place.data()), DecisionLog.MOST_BYTES);
        final LeaderAutoscaler opened = new LeaderAutoscaler(place.leadership(), (permission) ->
            options.launcher().open(place, options.launchTimeoutS(), permission), options::autoscaler,
            new Records(log), TimeUnit.SECONDS.toMillis(options.launchTimeoutS() + place.leaseS()),
            SystemNanoClock.INSTANCE);
        opened.start(options.periodMs(), log);
        return opened;
    }

    private static AutoscaleOptions options(final Path settings)
    {
        final AutoscaleOptions options = new AutoscaleOptions();
        final CommandLine line = new CommandLine(options).setCaseInsensitiveEnumValuesAllowed(true);
        final Set<String> known = line.getCommandSpec().options().stream().map(SettingsProvider::name)
            .collect(Collectors.toSet());
        try
        {
            line.setDefaultValueProvider(SettingsProvider.ofFile(OPTION, settings, "autoscale", known)).parseArgs();
        }
        catch (final ParameterException ex)
        {
            if (ex.getCause() instanceof final CommandFailedException ofFile)
            {
                throw ofFile;
            }
            throw new CommandFailedException(ExitStatus.USAGE,
                OPTION + ' ' + settings + ": " + ex.getMessage().lines().findFirst().orElse(""), ex);
        }
        return options;
    }

    /** Writes each decision to the record, and what happened to the log of the process. */
    private static final class Records implements Consumer<DecisionRecord>
    {
        private final DecisionLog log;
        private boolean isFailing;

        Records(final DecisionLog log)
        {
            this.log = log;
        }

        @Override
        public void accept(final DecisionRecord record)
        {
            final String failure = log.add(record.json());
            if (null != failure && !isFailing)
            {
                LOGGER.warn("decisions are not recorded: {}", failure);
            }
            isFailing = null != failure;
            if (DecisionRecord.isEvent(record.json()))
            {
                LOGGER.info("{}", DecisionRecord.line(record.json()));
            }
        }
    }

    private void start(final long periodMs, final DecisionLog log)
    {
        worker = new Thread(() -> work(TimeUnit.MILLISECONDS.toNanos(periodMs), log), "verbena-autoscaler");
        watcher = new Thread(this::watch, "verbena-autoscaler-watch");
        worker.setDaemon(true);
        watcher.setDaemon(true);
        worker.start();
        watcher.start();
    }

    private void work(final long periodNs, final DecisionLog log)
    {
        while (!isEnding)
        {
            final long beganNs = clock.nanoTime();
            step();
            Thread.interrupted(); // it was for what has ended
            while (!isEnding && clock.nanoTime() - beganNs < periodNs)
            {
                LockSupport.parkNanos(Math.min(WATCH_NS, periodNs));
                Thread.interrupted();
            }
        }
        end();
        log.close();
    }

    /** Breaks off what is under way when the leadership has ended under which it was begun. */
    private void watch()
    {
        while (!isEnding)
        {
            final long begun = current;
            if (NONE != begun && begun != leadership.getAsLong())
            {
                worker.interrupt();
            }
            LockSupport.parkNanos(WATCH_NS);
        }
    }

    /** One period. What goes wrong is recorded, or else logged, and tried again in the next one. */
    void step()
    {
        final long number = leadership.getAsLong();
        if (number != current)
        {
            end();
        }
        if (number < 0)
        {
            return;
        }
        try
        {
            if (null == autoscaler)
            {
                begin(number);
            }
            records.accept(autoscaler.step());
            trouble = "";
        }
        catch (final CommandFailedException ex)
        {
            if (ExitStatus.INTERRUPTED == ex.exitStatus())
            {
                end();
            }
            else
            {
                say(ex.getMessage());
            }
        }
        catch (final RuntimeException ex)
        {
            say(ex.toString());
            end();
        }
    }

    private void begin(final long number)
    {
        // The same number: a lease that had run out was extended, and nobody else has led.
        sinceNs = number != latest || isChanging || isStartingSpares ? clock.nanoTime() : sinceNs;
        isChanging = false;
        isStartingSpares = false;
        latest = number;
        current = number;
        permission = new ChangePermission(() -> number == leadership.getAsLong());
        fleet = fleets.apply(permission);
        autoscaler = autoscalers.apply(new Held());
        autoscaler.takeOver();
        LOGGER.info("the autoscaler begins; it changes nothing for {} s",
            TimeUnit.NANOSECONDS.toSeconds(Math.max(0, sinceNs + holdNs - clock.nanoTime())));
    }

    private void end()
    {
        final Fleet ended = fleet;
        current = NONE;
        fleet = null;
        autoscaler = null;
        if (null != ended)
        {
            LOGGER.info("the autoscaler ends: this meta server does not lead any more, or is to begin anew");
            CloseHelper.quietClose(ended);
        }
    }

    private void say(final String what)
    {
        if (!trouble.equals(what))
        {
            trouble = what;
            LOGGER.warn("the autoscaler tries again: {}", what);
        }
    }

    /** The nodes, which stay as they are until nothing comes of what an earlier leader has begun. */
    private final class Held implements Fleet
    {
        private int presentSpares;

        @Override
        public State observe()
        {
            final State state = fleet.observe();
            presentSpares = state.spares();
            final long leftNs = sinceNs + holdNs - clock.nanoTime();
            return leftNs <= 0 || null != state.obstacle() ? state : new State(state.live(), state.spares(),
                state.dead(), state.samples(), "this meta server has just begun to lead: what the one before had " +
                "begun may take another " + (TimeUnit.NANOSECONDS.toSeconds(leftNs) + 1) + " s");
        }

        @Override
        public void resize(final int wanted, final Consumer<String> progress)
        {
            permission.require();
            isChanging = true;
            fleet.resize(wanted, progress);
            isChanging = false;
        }

        @Override
        public String keepSpares(final int spares)
        {
            permission.require();
            // It returns before spares have started.
            isStartingSpares = spares != presentSpares;
            return fleet.keepSpares(spares);
        }

        @Override
        public void close()
        {
            fleet.close();
        }
    }

    /** Breaks off what is under way, and waits for its end, 5 s at most. */
    @Override
    public void close()
    {
        isEnding = true;
        if (null == worker)
        {
            end();
            return;
        }
        worker.interrupt();
        try
        {
            worker.join(END_MS);
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
    }
}
