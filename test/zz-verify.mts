import { spawn } from "node:child_process";
import fs from "node:fs";
import { join } from "node:path";
const W="/work/wt/guard"; const P=process.argv[2]!; const rows=process.argv.slice(3);
const { MUTANTS } = await import(W+"/test/mutants/all.ts"); const { locateMutant } = await import(W+"/test/mutants/locate-mutant.ts");
const root=join(P,"project"); fs.rmSync(P,{recursive:true,force:true}); fs.mkdirSync(P,{recursive:true});
for (const n of ["src","test","docs","package.json","tsconfig.json",".github","README.md","CHANGELOG.md","LICENSE","systemd","launchd","dist"]) fs.cpSync(join(W,n),join(root,n),{recursive:true});
fs.symlinkSync(join(W,"node_modules"),join(root,"node_modules")); fs.symlinkSync("/work/shared",join(P,"shared")); fs.mkdirSync(join(P,"t"));
const run=(test:string)=>new Promise<string|null>((ok)=>{ const c=spawn(process.execPath,["--import","tsx","--test","--test-reporter=tap",test],{cwd:root,stdio:["ignore","pipe","ignore"],detached:true,env:{...process.env,TMPDIR:join(P,"t")}}); let o=""; const kill=()=>{try{process.kill(-c.pid!,"SIGKILL")}catch{}}; const timer=setTimeout(()=>{o+="\nnot ok 1 - HUNG\n";kill()},300000); c.stdout.setEncoding("utf8").on("data",(x)=>{o+=x; if(/^not ok/m.test(o)) kill();}); c.on("close",(code)=>{clearTimeout(timer); ok(/^not ok \d+ - (.*)$/m.exec(o)?.[1] ?? (code===0?null:"whole"));}); });
const base=new Set<string>();
for (const m of MUTANTS.filter((m:any)=>rows.includes(m.row)||rows.includes(m.without))) {
  if(!base.has(m.test)){ base.add(m.test); const f=await run(m.test); if(f) console.log("BASE FAILS",m.test,f); }
  const {source,start,end,replacement}=locateMutant(m,root); const p=join(root,m.file);
  fs.writeFileSync(p,source.slice(0,start)+replacement+source.slice(end)); const f=await run(m.test); fs.writeFileSync(p,source);
  console.log(f===null?"GREEN":"red  ",m.row,m.without,"("+m.test+")",f??"");
}
console.log("DONE");
