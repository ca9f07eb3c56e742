package peers;

import com.espertech.esper.common.client.EPCompiled;
import com.espertech.esper.common.client.configuration.Configuration;
import com.espertech.esper.compiler.client.CompilerArguments;
import com.espertech.esper.compiler.client.EPCompileException;
import com.espertech.esper.compiler.client.EPCompilerProvider;
import com.espertech.esper.runtime.client.EPDeployException;
import com.espertech.esper.runtime.client.EPEventService;
import com.espertech.esper.runtime.client.EPRuntime;
import com.espertech.esper.runtime.client.EPRuntimeProvider;
import com.espertech.esper.runtime.client.EPStatement;

/** Esper with external time. Every statement is a line; those that begin with select are counted. */
final class EsperPeer implements Peer {
    private final EPRuntime runtime;
    private final EPEventService service;
    private long rows;

    EsperPeer(String statements) throws EPCompileException, EPDeployException {
        Configuration configuration = new Configuration();
        configuration.getRuntime().getThreading().setInternalTimerEnabled(false);
        runtime = EPRuntimeProvider.getRuntime("peer", configuration);
        runtime.initialize();
        service = runtime.getEventService();
        service.clockExternal();
        for (String text : statements.split("\n")) deploy(text, configuration);
    }

    private void deploy(String text, Configuration configuration) throws EPCompileException, EPDeployException {
        CompilerArguments arguments = new CompilerArguments(configuration);
        arguments.getPath().add(runtime.getRuntimePath());
        EPCompiled compiled = EPCompilerProvider.getCompiler().compile(text, arguments);
        for (EPStatement statement : runtime.getDeploymentService().deploy(compiled).getStatements()) {
            if (text.startsWith("select") || text.startsWith("context")) {
                statement.addListener((fresh, old, s, r) -> rows += fresh == null ? 0 : fresh.length);
            }
        }
    }

    @Override
    public void send(long time, Object[] values) {
        service.advanceTime(time);
        service.sendEventObjectArray(values, "S");
    }

    @Override
    public long rowsOut() {
        return rows;
    }

    @Override
    public void close() {
        runtime.destroy();
    }
}
