package io.verbena.server.metrics;

import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;

import org.agrona.CloseHelper;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The metrics of a process, in the text format of Prometheus: those of the catalogue, and what Micrometer measures of a
 * Java process. Any thread; one scrape at a time. Closed by its opener.
 */
public final class MetricsPage implements AutoCloseable
{
    /** What {@link #scrape} returns, as the value of a Content-Type header. */
    public static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final List<AutoCloseable> binders = new ArrayList<>();

    /** @param source notes what the process measures; called for each scrape. */
    public MetricsPage(final Consumer<Measurements> source)
    {
        registry.getPrometheusRegistry().register(new MultiCollector()
        {
            @Override
            public MetricSnapshots collect()
            {
                final Measurements measurements = new Measurements();
                source.accept(measurements);
                return measurements.snapshots();
            }
        });
        bind(new ClassLoaderMetrics());
        bind(new JvmMemoryMetrics());
        bind(new JvmGcMetrics());
        bind(new JvmThreadMetrics());
        bind(new FileDescriptorMetrics());
        bind(new ProcessorMetrics());
        bind(new UptimeMetrics());
    }

    private void bind(final MeterBinder binder)
    {
        binder.bindTo(registry);
        if (binder instanceof final AutoCloseable closeable)
        {
            binders.add(closeable);
        }
    }

    /** @return the page. */
    public synchronized byte[] scrape()
    {
        final ByteArrayOutputStream out = new ByteArrayOutputStream();
        try
        {
            registry.scrape(out, CONTENT_TYPE);
        }
        catch (final IOException ex)
        {
            throw new IllegalStateException("a page in memory cannot be written", ex);
        }
        return out.toByteArray();
    }

    @Override
    public void close()
    {
        CloseHelper.closeAll(binders);
        registry.close();
    }
}
